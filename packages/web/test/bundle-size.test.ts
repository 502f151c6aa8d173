import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';

/** The bundle of an app that limits its requests in memory, in bytes after compression. Lower it when the bundle shrinks. */
const MAX_GZIP_BYTES = 28_750;

test('an app with one rolling window in memory has a small bundle', async () => {
  const app = `
    import { MemoryStore, rateLimit, rollingWindow } from '@rollgate/web';
    const limits = rollingWindow({ limit: 100, window: '1m' });
    export default { fetch: rateLimit({ limits, store: new MemoryStore(), key: String })(() => new Response()) };
  `;
  const { outputFiles } = await build({
    stdin: { contents: app, resolveDir: __dirname },
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    conditions: ['workerd', 'worker', 'browser'], // Those of Wrangler, which bundles Cloudflare Workers.
    target: 'es2022',
    write: false,
    tsconfigRaw: {}, // That of the package leads to sources.
  });
  const [{ contents }] = outputFiles as [(typeof outputFiles)[number]];
  expect(gzipSync(contents, { level: 9 }).length).toBeLessThanOrEqual(MAX_GZIP_BYTES);
});

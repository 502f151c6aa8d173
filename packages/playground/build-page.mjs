// Bundles the page twice: into dist/page for the server, and into dist/static for any web server, with the core in the
// browser. PLAYGROUND_URL is where the static build will be, for links that other sites show.
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

/** The parts of Node that the core imports, as browsers have them. */
const SHIMS = Object.fromEntries(
  ['perf_hooks', 'diagnostics_channel', 'async_hooks', 'crypto'].map((name) => [
    `node:${name}`,
    here(`src/node-in-browser/${name}.ts`),
  ]),
);

const common = { bundle: true, minify: true, format: 'iife', target: 'es2022', logLevel: 'warning' };

async function buildPage(folder, entry, options) {
  rmSync(here(folder), { recursive: true, force: true });
  await build({
    ...common,
    entryPoints: [
      { in: here(`src/page/${entry}.ts`), out: 'page' },
      { in: here('src/page/style.css'), out: 'style' },
    ],
    outdir: here(folder),
    ...options,
  });
  for (const file of ['favicon.svg', 'preview.png']) cpSync(here(`src/page/${file}`), here(`${folder}/${file}`));
  const html = readFileSync(here('src/page/index.html'), 'utf8');
  writeFileSync(here(`${folder}/index.html`), html.replace('content="preview.png"', `content="${previewUrl()}"`));
}

/** Other sites need the whole address of the picture. */
function previewUrl() {
  const { PLAYGROUND_URL: base } = process.env;
  return base === undefined ? 'preview.png' : new URL('preview.png', base).href;
}

await buildPage('dist/page', 'with-server', {});
await buildPage('dist/static', 'static', { alias: SHIMS, inject: [here('src/node-in-browser/globals.ts')] });

// Bundles the explorer with the sources of the packages, and runs it. So it needs no build.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const path = (file) => fileURLToPath(new URL(file, import.meta.url));
const outfile = path('node_modules/.cache/explore.cjs');
await build({
  entryPoints: [path('src/main.ts')],
  outfile,
  bundle: true,
  platform: 'node',
  logLevel: 'error',
  alias: {
    '@rollgate/calendar/window': path('../calendar/src/window.ts'),
    '@rollgate/core': path('../core/src/index.ts'),
    '@rollgate/core/limits': path('../core/src/limits-api.ts'),
    '@rollgate/core/store': path('../core/src/store-api.ts'),
    '@rollgate/fetch/outgoing': path('../fetch/src/outgoing.ts'),
  },
});
const { status } = spawnSync(process.execPath, ['--no-warnings', outfile, ...process.argv.slice(2)], {
  stdio: 'inherit',
});
process.exitCode = status ?? 1;

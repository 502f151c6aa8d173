// Bundles the explorer with the sources of the packages, and runs it. So it needs no build.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const path = (file) => fileURLToPath(new URL(file, import.meta.url));
const outfile = path('node_modules/.cache/explore.cjs');
/** Takes the source of each entry of the packages instead of its bundle. */
const fromSources = {
  name: 'from-sources',
  setup(bundle) {
    bundle.onResolve({ filter: /^@rollgate\// }, ({ path: name }) => {
      const [, folder, entry = ''] = /^@rollgate\/([^/]+)(\/.+)?$/.exec(name);
      const { exports } = JSON.parse(readFileSync(path(`../${folder}/package.json`), 'utf8'));
      const file = exports[`.${entry}`].default.replace('./dist/', 'src/').replace(/\.m?js$/, '.ts');
      return { path: path(`../${folder}/${file}`) };
    });
  },
};

await build({
  entryPoints: [path('src/main.ts')],
  outfile,
  bundle: true,
  platform: 'node',
  logLevel: 'error',
  plugins: [fromSources],
});
const { status } = spawnSync(process.execPath, ['--no-warnings', outfile, ...process.argv.slice(2)], {
  stdio: 'inherit',
});
process.exitCode = status ?? 1;

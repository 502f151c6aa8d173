// Bundles the page, with its one library, into dist/page, where the server finds it.
import { cpSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

rmSync(here('dist/page'), { recursive: true, force: true });
await build({
  entryPoints: [here('src/page/page.ts'), here('src/page/style.css')],
  outdir: here('dist/page'),
  bundle: true,
  minify: true,
  format: 'esm',
  target: 'es2022',
  logLevel: 'warning',
});
for (const file of ['index.html', 'favicon.svg']) cpSync(here(`src/page/${file}`), here(`dist/page/${file}`));

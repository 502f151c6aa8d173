// Builds the packages that run everywhere as ES modules for bundlers and for platforms other than Node, into dist/esm.
// There, `platform.neutral.ts` takes the place of `platform.ts`. Run by the workspace's build.
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const PACKAGES = ['core', 'calendar', 'http', 'web', 'hono', 'redis'];
const NEUTRAL = '.neutral.ts';

for (const name of PACKAGES) {
  const source = fileURLToPath(new URL(`../packages/${name}/src`, import.meta.url));
  const target = join(source, '../dist/esm');
  const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
  const replaced = new Set(files.filter((file) => file.endsWith(NEUTRAL)).map((file) => file.replace(NEUTRAL, '.ts')));
  rmSync(target, { recursive: true, force: true });
  await build({
    entryPoints: files
      .filter((file) => !replaced.has(file))
      .map((file) => ({ in: join(source, file), out: nameOf(file, files) })),
    outdir: target,
    format: 'esm',
    platform: 'neutral',
    target: 'es2022',
    logLevel: 'warning',
  });
  // Bundlers read both from the nearest package.json.
  writeFileSync(join(target, 'package.json'), '{ "type": "module", "sideEffects": false }\n');
}

/** The name of a built file, without `.js`. A file that only this build has keeps `.neutral`, as in the imports of it. */
function nameOf(file, files) {
  const counterpart = file.replace(NEUTRAL, '.ts');
  return (files.includes(counterpart) ? counterpart : file).replace(/\.ts$/, '');
}

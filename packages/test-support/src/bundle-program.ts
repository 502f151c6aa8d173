import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { buildSync } from 'esbuild';

/** Bundled dependencies may require modules of Node. */
const BANNER = "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);";

/**
 * Bundles a program with all that it imports, so that Node runs it with sources of a package in place of the published files. Returns
 * the path of the bundle, the only file in a new folder.
 */
export function bundleProgram(file: string): string {
  const outfile = join(mkdtempSync(join(tmpdir(), 'rollgate-')), `${basename(file, '.mjs')}.mjs`);
  buildSync({
    ...{ entryPoints: [file], outfile, bundle: true, platform: 'node', format: 'esm', logLevel: 'warning' },
    banner: { js: BANNER },
  });
  return outfile;
}

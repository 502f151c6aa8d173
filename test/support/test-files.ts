import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(__dirname, '../..');
const FOLDERS = [
  ...readdirSync(join(ROOT, 'packages')).map((name) => `packages/${name}/test`),
  'examples/test',
  'test',
];

/** Reads all files in the `test` folders of packages and examples. The names start at the root of the repository. */
export function testFiles(): { name: string; path: string; text: string }[] {
  return FOLDERS.flatMap(filesIn)
    .filter((name) => name.endsWith('.ts'))
    .map((name) => ({ name, path: join(ROOT, name), text: readFileSync(join(ROOT, name), 'utf8') }));
}

/** Stays out of installed packages, whose folders would take longer than all others together. */
function filesIn(folder: string): string[] {
  const entries = existsSync(join(ROOT, folder)) ? readdirSync(join(ROOT, folder), { withFileTypes: true }) : [];
  return entries
    .filter(({ name }) => name !== 'node_modules')
    .flatMap((entry) => (entry.isDirectory() ? filesIn(join(folder, entry.name)) : [join(folder, entry.name)]));
}

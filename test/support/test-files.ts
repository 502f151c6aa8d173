import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(__dirname, '../..');

/** Reads all files in the `test` folders of packages and examples. The names start at the root of the repository. */
export function testFiles(): { name: string; path: string; text: string }[] {
  return ['packages', 'examples', 'test'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .map((name) => join(folder, name))
      .filter((name) => /(?:^|\/)test\/.*\.ts$/.test(name) && !name.includes('node_modules'))
      .map((name) => ({ name, path: join(ROOT, name), text: readFileSync(join(ROOT, name), 'utf8') })),
  );
}

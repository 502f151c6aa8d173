import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

const ROOT = join(__dirname, '..');
const NAMES = [
  'fixed-window',
  'sliding-window-counter',
  'token-bucket',
  'leaky-bucket',
  'bucketed-window',
  'calendar-window',
  'reported-quota',
  'concurrency',
];

/** All but `host-tests`, whose scenarios use some algorithms, and `fetch` with its tests, which obeys APIs by one of them. */
const packages = readdirSync(join(ROOT, 'packages'))
  .filter((name) => !['host-tests', 'test-support', 'fetch'].includes(name))
  .map((name) => join(ROOT, 'packages', name, 'src'));

/** All sources, as paths from the root. */
const sources = packages.flatMap((folder) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    // An entry point for ESM (`.mts`) has the exports of the one for CommonJS next to it.
    .filter((entry) => entry.isFile() && !/\.(generated\.ts|mts)$/.test(entry.name))
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name))),
);

const roomOf = (name: string) => (['concurrency', 'reported-quota'].includes(name) ? 'slots' : 'limits');

/** The files that ARCHITECTURE.md names for an algorithm. */
function namedPlaces(name: string): string[] {
  const text = readFileSync(join(ROOT, 'ARCHITECTURE.md'), 'utf8');
  const section = text.slice(text.indexOf('## Adding an algorithm')).split('\n## ')[0]!;
  return [...section.matchAll(/`([\w/<>.-]+\.(?:ts|lua))`/g)].map(([, file]) =>
    file!.replace('<room>', roomOf(name)).replace('<name>', name),
  );
}

/** Whether the code of the file, without its comments and the names in its messages, contains `token-bucket`, `tokenBucket` or `TokenBucket`. */
function mentions(file: string, name: string): boolean {
  const code = readFileSync(join(ROOT, file), 'utf8').replace(/^\s*(\/\/|\/?\*|--).*$|`\w+`/gm, '');
  return new RegExp(name.replaceAll('-', '-?'), 'i').test(code);
}

test.each(NAMES)('%s is in the files that ARCHITECTURE.md names, and in no others', (name) => {
  const own = (file: string) => NAMES.some((other) => file.includes(`/${other}.`));
  const files = sources.filter((file) => mentions(file, name));
  const named = namedPlaces(name);
  expect(named.length).toBeGreaterThan(10);
  // One algorithm may build on another, so the files of the algorithms may name each other.
  const foreign = files.filter((file) => !own(file) || file.includes(`/${name}.`));
  for (const file of foreign) expect(named.filter((end) => file.endsWith(end))).not.toEqual([]);
  for (const file of named.filter((file) => file.includes(name))) expect(files).toContain(file);
});

import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

const ROOT = join(__dirname, '../../..');
const NAMES = ['fixed-window', 'sliding-window-counter', 'token-bucket', 'leaky-bucket', 'bucketed-window'];

const packages = readdirSync(join(ROOT, 'packages')).map((name) => join(ROOT, 'packages', name, 'src'));

/** All sources, by their places from the root on. */
const sources = packages.flatMap((folder) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    // An entry point for ESM (`.mts`) exports what the one for CommonJS beside it does.
    .filter((entry) => entry.isFile() && !/\.(generated\.ts|mts)$/.test(entry.name))
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name))),
);

/** The places that ARCHITECTURE.md names for an algorithm. */
function namedPlaces(name: string): string[] {
  const text = readFileSync(join(ROOT, 'ARCHITECTURE.md'), 'utf8');
  const section = text.slice(text.indexOf('## Adding an algorithm')).split('\n## ')[0]!;
  return [...section.matchAll(/`([\w/<>.-]+\.(?:ts|lua))`/g)].map(([, place]) => place!.replace('<name>', name));
}

/** Whether the code there, its comments aside, says `token-bucket`, `tokenBucket` or `TokenBucket`. */
function mentions(place: string, name: string): boolean {
  const code = readFileSync(join(ROOT, place), 'utf8').replace(/^\s*(\/\/|\/?\*|--).*$/gm, '');
  return new RegExp(name.replaceAll('-', '-?'), 'i').test(code);
}

test.each(NAMES)('%s is where ARCHITECTURE.md says, and nowhere else', (name) => {
  const own = (place: string) => NAMES.some((other) => place.includes(`/${other}.`));
  const places = sources.filter((place) => mentions(place, name));
  const named = namedPlaces(name);
  expect(named.length).toBeGreaterThan(10);
  // One algorithm may build on another: so they are left out where they speak of each other.
  const foreign = places.filter((place) => !own(place) || place.includes(`/${name}.`));
  for (const place of foreign) expect(named.filter((end) => place.endsWith(end))).not.toEqual([]);
  for (const place of named.filter((place) => place.includes(name))) expect(places).toContain(place);
});

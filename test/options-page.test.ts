import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { OPTION_NAMES } from '../packages/http/src/options/option-parsers';

const ROOT = join(__dirname, '..');
const read = (file: string) => readFileSync(join(ROOT, file), 'utf8');
const quoted = (text: string) => Array.from(text.matchAll(/'(\w+)'/g), ([, name]) => name!);

/** The options of each adapter beyond the common ones, from its source. */
const ownOptions = readdirSync(join(ROOT, 'packages')).flatMap((name) => {
  const folder = `packages/${name}/src`;
  const sources = ['express', 'fastify', 'hono', 'koa', 'nestjs', 'node', 'web'].includes(name)
    ? readdirSync(join(ROOT, folder), { encoding: 'utf8' }).filter((file) => file.endsWith('.ts'))
    : [];
  return sources.flatMap((file) =>
    Array.from(read(`${folder}/${file}`).matchAll(/ownOptions: (\[[^\]]*\])/g), ([, list]) => quoted(list!)).flat(),
  );
});
/** Fastify reads these before it resolves the other options. */
const OF_FASTIFY = ['global', 'groupId'];

test('the page has one heading for each option of the adapters', () => {
  const headings = Array.from(read('docs/options.md').matchAll(/^### (\w+)$/gm), ([, name]) => name!);
  const known = new Set([...OPTION_NAMES, ...ownOptions, ...OF_FASTIFY]);
  expect(headings.sort()).toEqual([...known].sort());
});

test('the table of the page lists the options in the order of their headings', () => {
  const page = read('docs/options.md');
  const headings = Array.from(page.matchAll(/^### (\w+)$/gm), ([, name]) => name!);
  const rows = Array.from(page.matchAll(/^\| \[`(\w+)`\]\(#(\w+)\)/gm));
  expect(rows.map(([, name]) => name)).toEqual(headings);
  expect(rows.map(([, , anchor]) => anchor)).toEqual(headings.map((name) => name.toLowerCase()));
});

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(__dirname, '..');
const HOSTS = ['express', 'fastify', 'hono', 'koa', 'nestjs', 'node', 'web'];
/** Words that any file may contain. */
const COMMON_WORDS = ['node', 'web'];
/** Their code is not part of a request's path. */
const TOOLS = ['cli', 'playground', 'host-tests', 'prose-lint', 'test-support', 'store-conformance'];

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');

const libraries = readdirSync(join(ROOT, 'packages')).filter((name) => !TOOLS.includes(name));

/** The code of a package, without comments. */
function codeOf(name: string): [file: string, code: string][] {
  const folder = join(ROOT, 'packages', name, 'src');
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.m?ts$/.test(file))
    .map((file) => [
      `${name}/src/${file}`,
      readFileSync(join(folder, file), 'utf8').replace(/^\s*(\/\/|\/?\*).*$/gm, ''),
    ]);
}

/** The paths that ARCHITECTURE.md names for a host. */
function namedPaths(host: string): string[] {
  const text = read('ARCHITECTURE.md');
  const section = text.slice(text.indexOf('## Adding a host')).split('\n## ')[0]!;
  const paths = [...section.matchAll(/`((?:packages|scripts|\.changeset)\/[\w./<>-]+|tsconfig\.json)`/g)];
  return paths.map(([, path]) => path!.replaceAll('<host>', host));
}

test.each(HOSTS)('ARCHITECTURE.md names the files of %s', (host) => {
  const paths = namedPaths(host);
  expect(paths.length).toBeGreaterThan(6);
  // Hosts of the Fetch standard share one app, whatever serves it.
  const missing = paths.filter((path) => !existsSync(join(ROOT, path)) && !path.includes('/hosts/'));
  expect(missing).toEqual([]);
  expect(read('tsconfig.json')).toContain(`"packages/${host}"`);
  expect(read('.changeset/config.json')).toContain(`"@rollgate/${host}"`);
  const programs = readdirSync(join(ROOT, 'packages/host-tests/src/hosts')).map((file) =>
    read(`packages/host-tests/src/hosts/${file}`),
  );
  expect(programs.filter((program) => program.includes(`'@rollgate/${host}'`))).not.toEqual([]);
});

test.each(HOSTS.filter((host) => !COMMON_WORDS.includes(host)))('no other library mentions %s', (host) => {
  const isBelowNest = host === 'express' || host === 'fastify';
  const others = libraries.filter((name) => name !== host && !(isBelowNest && name === 'nestjs'));
  const mentioning = others
    .flatMap(codeOf)
    .filter(([, code]) => new RegExp(`\\b${host}\\b`, 'i').test(code))
    .map(([file]) => file);
  // It suggests names for the options of other limiters.
  expect(mentioning.filter((file) => file !== 'core/src/validation/option-suggestions.ts')).toEqual([]);
});

import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startRedis } from '@rollgate/test-support';
import { TSC } from '@rollgate/test-support/compile';
import { DENO_ARGUMENTS, PLATFORM_PROGRAMS } from '@rollgate/test-support/platform-programs';
import { isRelative, linksIn, REPOSITORY, SITE } from './support/links.js';

const run = promisify(execFile);

const ROOT = join(__dirname, '..');
/** Packing and installing everything takes longer than any test. */
const SETUP_TIMEOUT_MS = 600_000;

interface Manifest {
  name: string;
  version: string;
  private?: boolean;
  /** Whether the package is a command, which no program imports. */
  bin?: Record<string, string>;
  exports?: Record<string, unknown>;
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
  peerDependencies?: Record<string, string>;
}

interface Tarball {
  name: string;
  filename: string;
  files: { path: string }[];
}

const readManifest = (folder: string): Manifest => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));

const everyFolder = readdirSync(join(ROOT, 'packages'))
  .map((name) => join(ROOT, 'packages', name))
  .filter((folder) => existsSync(join(folder, 'package.json')));
const folders = everyFolder.filter((folder) => !readManifest(folder).private);
const names = folders.map((folder) => readManifest(folder).name);
const commands = names.filter((_, index) => readManifest(folders[index]!).bin !== undefined);
const libraries = names.filter((name) => !commands.includes(name));

/** The paths that a package exports, without its manifest. */
function entriesOf(name: string): string[] {
  const paths = Object.keys(readManifest(folders[names.indexOf(name)]!).exports ?? {});
  return paths.filter((path) => path !== './package.json');
}

/**
 * The packages that users install next to these. npm links the folders of the workspace, because unpacking the same
 * files again would take longer than everything else here.
 */
const INSTALLED_WITH = [
  'node_modules/@types/node',
  'packages/express/node_modules/express',
  'packages/express/node_modules/@types/express',
  'packages/fastify/node_modules/fastify',
  'packages/nestjs/node_modules/@nestjs/common',
  'packages/nestjs/node_modules/@nestjs/core',
  'packages/nestjs/node_modules/reflect-metadata',
  'packages/nestjs/node_modules/rxjs',
  'packages/hono/node_modules/hono',
  'packages/koa/node_modules/koa',
  'packages/koa/node_modules/@types/koa',
  'packages/redis/node_modules/ioredis',
  'packages/redis/node_modules/redis',
];

/** Runs in a separate process, because Jest cannot load ES modules such as these tools without an experimental flag. */
const LINT = `
import { readFileSync } from 'node:fs';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';

async function lint(file) {
  const tarball = new Uint8Array(readFileSync(file));
  const { messages, pkg } = await publint({ pack: { tarball: tarball.buffer }, level: 'suggestion' });
  const { types, problems, entrypoints } = await checkPackage(createPackageFromTarballData(tarball));
  return {
    publint: messages.map((message) => message.type + ': ' + formatMessage(message, pkg, { color: false })),
    types: types && types.kind,
    problems,
    resolutions: Object.entries(entrypoints ?? {})
      .filter(([path]) => path !== './package.json')
      .map(([path, { resolutions }]) => [path, Object.keys(resolutions)]),
  };
}

const found = [];
for (const file of process.argv.slice(1)) found.push(await lint(file));
console.log(JSON.stringify(found));
`;

const USE = `
const statuses = { express: [], fastify: [] };

const limiter = new RateLimiter({ limits: rollingWindow({ limit: 1, window: '1m' }) });
const clientKey = createClientKey(56);
assert.equal((await limiter.check(clientKey('192.0.2.1'))).allowed, true);
assert.equal((await limiter.check(clientKey('::ffff:192.0.2.1'))).allowed, false);

const app = express();
app.use(limitExpress({ limit: 1, window: '1m' }));
app.get('/', (request, response) => response.send('hello'));
const server = app.listen(0, '127.0.0.1');
await once(server, 'listening');
for (let i = 0; i < 2; i++) {
  statuses.express.push((await fetch('http://127.0.0.1:' + server.address().port)).status);
}
server.close();
server.closeAllConnections();

const fastify = Fastify();
await fastify.register(limitFastify, { limit: 1, window: '1m' });
fastify.get('/', async () => 'hello');
for (let i = 0; i < 2; i++) statuses.fastify.push((await fastify.inject('/')).statusCode);
await fastify.close();

const redis = new Redis(process.env.REDIS_URL);
const shared = new RateLimiter({
  limits: rollingWindow({ limit: 1, window: '1m' }),
  store: new RedisStore({ client: redis }),
  prefix: 'packages ' + process.pid,
  timeout: '30s', // For a busy machine.
});
assert.equal((await shared.check('ann')).allowed, true);
assert.equal((await shared.check('ann')).allowed, false);
await shared.reset('ann');
redis.disconnect();

assert.deepEqual(statuses, { express: [200, 429], fastify: [200, 429] });
assert.equal(limitFastify, namedLimitFastify);
`;

const USE_ESM = `
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { RateLimiter, rollingWindow } from '@rollgate/core';
import { rateLimit as limitExpress } from '@rollgate/express';
import limitFastify, { rateLimit as namedLimitFastify } from '@rollgate/fastify';
import { createClientKey } from '@rollgate/http';
import { RedisStore } from '@rollgate/redis';
import express from 'express';
import Fastify from 'fastify';
import { Redis } from 'ioredis';
${USE}`;

const USE_CJS = `
const assert = require('node:assert/strict');
const { once } = require('node:events');
const { RateLimiter, rollingWindow } = require('@rollgate/core');
const { rateLimit: limitExpress } = require('@rollgate/express');
const { default: limitFastify, rateLimit: namedLimitFastify } = require('@rollgate/fastify');
const { createClientKey } = require('@rollgate/http');
const { RedisStore } = require('@rollgate/redis');
const { Redis } = require('ioredis');
const express = require('express');
const Fastify = require('fastify');
(async () => {${USE}})();`;

/** Compares `import` and `require` of every package. An export that one of them lacks is missing for half the users. */
const COMPARE = `
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
const require = createRequire(import.meta.url);
const OF_NODE = ['__esModule', 'default', 'module.exports'];
const named = (module) => Object.keys(module).filter((name) => !OF_NODE.includes(name)).sort();
for (const name of ${JSON.stringify(libraries.flatMap((name) => entriesOf(name).map((path) => name + path.slice(1))))}) {
  const imported = await import(name);
  const required = require(name);
  assert.deepEqual(named(imported), named(required), name);
  assert.equal(imported.default, required.default ?? required, name);
  for (const each of named(required)) assert.equal(imported[each], required[each], name);
  assert.ok(named(imported).length > 0 || name === '@rollgate/nestjs/fastify', name); // That one has only types.
}
`;

/** The correct use of every option next to the wrong one. Otherwise another error could pass for the expected one. */
const USE_TYPES = `
import { type Decision, RateLimiter, rollingWindow } from '@rollgate/core';
import { rateLimit as limitExpress } from '@rollgate/express';
import limitFastify, { rateLimit as namedLimitFastify } from '@rollgate/fastify';
import { createClientKey } from '@rollgate/http';
import { RedisStore } from '@rollgate/redis';
import express from 'express';
import Fastify from 'fastify';
import { Cluster, Redis } from 'ioredis';
import { createClient, createClientPool, createCluster } from 'redis';

export function stores(): RedisStore[] {
  // @ts-expect-error: no such option
  new RedisStore({ client: new Redis(), lock: 'list' });
  // @ts-expect-error: no client
  new RedisStore({ client: 'redis://localhost' });
  return [
    new RedisStore({ client: new Redis(), log: 'sorted-set', denialCache: { maxAge: '1s' } }),
    new RedisStore({ client: new Cluster([]), denialCache: false }),
    new RedisStore({ client: createClient() }),
    new RedisStore({ client: createClient({ RESP: 3 }) }),
    new RedisStore({ client: createClientPool() }),
    new RedisStore({ client: createCluster({ rootNodes: [] }) }),
  ];
}

export async function use(): Promise<boolean> {
  const limiter = new RateLimiter({ limits: rollingWindow({ limit: 1, window: '1m', minDifference: '1s' }) });
  // @ts-expect-error: no such option
  rollingWindow({ limit: 1, window: '1m', minDiference: '1s' });
  const decision: Decision = await limiter.check(createClientKey(56)('192.0.2.1'), { cost: 1 });
  // @ts-expect-error: no such option
  await limiter.check('ann', { costs: 1 });

  const app = express();
  app.use(limitExpress({ limit: 1, window: '1m', prefix: 'api', key: (request) => request.path }));
  // @ts-expect-error: no such option
  app.use(limitExpress({ limit: 1, window: '1m', prefixes: 'api' }));
  app.get('/', (request, response) => void response.send(String(request.rateLimit?.remaining)));

  const fastify = Fastify();
  await fastify.register(limitFastify, { limit: 1, window: '1m', prefix: 'api', key: (request) => request.url });
  await fastify.register(namedLimitFastify, { limit: 1, window: '1m' });
  // @ts-expect-error: no such option
  await fastify.register(limitFastify, { limit: 1, window: '1m', prefixes: 'api' });
  fastify.get('/', { config: { rateLimit: { limit: 5 } } }, async (request) => request.rateLimit?.remaining);
  // @ts-expect-error: no such option
  fastify.get('/wrong', { config: { rateLimit: { limits: 5 } } }, async () => 'hello');
  return decision.allowed;
}
`;

/**
 * The resolution of Node and that of bundlers. The tests of each library find the same declarations by all others. The compilation for
 * Node also checks the declarations themselves, for `import` and for `require`, and with them those of the frameworks, but not those of
 * the language. That takes as long as all else.
 */
const RESOLUTIONS = [
  { module: 'nodenext', moduleResolution: 'nodenext' },
  { module: 'esnext', moduleResolution: 'bundler', skipLibCheck: true },
];

/** Several checkers would each check the declarations of Node. */
const TSC_OPTIONS =
  '--noEmit --strict --exactOptionalPropertyTypes --target es2022 --types node --singleThreaded --skipDefaultLibCheck';

/** Matches what a built file imports or requires, but no examples in comments. */
const IMPORTED =
  /^(?:import |(?:import|export|\}).* from )['"](.+)['"]|^[^*\n]*\b(?:require|import)\(['"](.+?)['"]\)/gm;

/** Returns `@scope/name` of `@scope/name/path`. */
const packageOf = (from: string) =>
  from
    .split('/')
    .slice(0, from.startsWith('@') ? 2 : 1)
    .join('/');

let temporary: string;
let tarballs: Tarball[];
let redis: Awaited<ReturnType<typeof startRedis>>;

/** Runs a command in the user's folder. If it fails, its output is the error. */
async function runThere(command: string, ...args: string[]): Promise<void> {
  const env = { ...process.env, REDIS_URL: redis.url, DENO_NO_UPDATE_CHECK: '1' };
  await run(command, args, { cwd: temporary, env }).catch((error) => {
    throw new Error(`${command} ${args.join(' ')}\n${error.stdout}${error.stderr}`);
  });
}

beforeAll(async () => {
  redis = await startRedis();
  temporary = mkdtempSync(join(tmpdir(), 'rollgate-'));
  // One process packs all: each would need a second of CPU and 150 MB.
  const filters = names.map((name) => `--filter=${name}`);
  const pack = ['pack', '--json', '--pack-destination', temporary];
  // npx would search the installed packages of its folder for pnpm, which takes twice as long as all that pnpm does.
  const npx = ['--yes', '--prefix', temporary, 'pnpm@12'];
  const { stdout } = await run('npx', [...npx, ...filters, ...pack], { cwd: ROOT, maxBuffer: 16e6 });
  const packed = JSON.parse(stdout) as Tarball[];
  tarballs = names.map((name) => packed.find((tarball) => tarball.name === name)!);

  const installedWith = INSTALLED_WITH.map((folder) => join(ROOT, folder));
  const files = tarballs.map(({ filename }) => filename);
  // With this package.json, npm does not look for one in the folders above.
  writeFileSync(join(temporary, 'package.json'), '{ "private": true }');
  // Without scripts, because npm would build the linked folders.
  const options = ['--no-audit', '--no-fund', '--prefer-offline', '--ignore-scripts'];
  await runThere('npm', 'install', ...options, ...files, ...installedWith);

  const sources = { 'use.mjs': USE_ESM, 'use.cjs': USE_CJS, 'compare.mjs': COMPARE };
  const typed = { 'use.mts': USE_TYPES, 'use.cts': USE_TYPES };
  for (const [name, text] of Object.entries({ ...sources, ...typed })) writeFileSync(join(temporary, name), text);
}, SETUP_TIMEOUT_MS);

afterAll(async () => {
  rmSync(temporary, { recursive: true, force: true });
  await redis.stop();
});

describe.each(names)('the tarball of %s', (name) => {
  const tarball = () => tarballs[names.indexOf(name)]!;

  test('contains the build and nothing else', () => {
    const paths = tarball().files.map(({ path }) => path);
    expect(paths.filter((path) => !/^(dist\/.+|package\.json|README\.md|LICENSE)$/.test(path))).toEqual([]);
    expect(paths).toEqual(expect.arrayContaining(['package.json', 'README.md', 'LICENSE']));
  });

  const installed = () => join(temporary, 'node_modules', name);
  const directory = `packages/${name.slice('@rollgate/'.length)}`;

  test('has the manifest that its page on npm needs', () => {
    expect(readManifest(installed())).toMatchObject({
      version: readManifest(folders[0]!).version,
      description: expect.stringMatching(/^[A-Z].{30,115}$/),
      keywords: expect.arrayContaining(['rate-limit', 'rate-limiter']),
      homepage: `${REPOSITORY}/tree/main/${directory}#readme`,
      bugs: { url: `${REPOSITORY}/issues` },
      repository: { type: 'git', url: `git+${REPOSITORY}.git`, directory },
      license: 'MIT',
      engines: { node: '>=20' },
      files: expect.arrayContaining(['dist']),
      publishConfig: { access: 'public' },
    });
  });

  test('names only published packages', () => {
    const { dependencies, devDependencies, peerDependencies } = readManifest(installed());
    const named = Object.entries({ ...dependencies, ...devDependencies, ...peerDependencies });
    const unpublished = everyFolder
      .map((folder) => readManifest(folder).name)
      .filter((other) => !names.includes(other));
    expect(unpublished).toContain('@rollgate/test-support');
    expect(named.filter(([other, range]) => unpublished.includes(other) || range.startsWith('workspace:'))).toEqual([]);
  });

  test('has a page that stands on its own', () => {
    const page = readFileSync(join(installed(), 'README.md'), 'utf8');
    const links = linksIn(page);
    expect(page).toMatch(new RegExp(`^# ${name}\n`));
    expect(page).toMatch(/\n## Install\n[^#]*\bnpm install [^\n]*@rollgate\//);
    expect(page).toContain('\n## Links\n');
    expect(page).toMatch(/\n## Quick start\n/);
    expect(links).toContainEqual(expect.stringContaining(SITE));
    const missing = links.filter((target) => isRelative(target) && !existsSync(join(installed(), target)));
    expect(missing).toEqual([]);
  });

  // The tests below install the packages side by side, where each finds the dependencies of the others.
  test('depends on what it imports', () => {
    const folder = folders[names.indexOf(name)]!;
    const { dependencies, peerDependencies } = readManifest(folder);
    const known = new Set(Object.keys({ ...dependencies, ...peerDependencies }));
    const built = tarball().files.filter(({ path }) => /\.(js|d\.ts)$/.test(path));
    const imported = built.flatMap(({ path }) =>
      [...readFileSync(join(folder, path), 'utf8').matchAll(IMPORTED)].map((match) => match[1] ?? match[2]!),
    );
    const outside = imported.filter((from) => !/^(\.|node:)/.test(from) && !known.has(packageOf(from)));
    expect(outside).toEqual([]);
  });
});

/** The findings of the tools for all tarballs, from one process: loading the tools takes longer than using them. */
let linted: Promise<unknown[]> | undefined;

async function lintAll(): Promise<unknown[]> {
  const files = tarballs.map(({ filename }) => filename);
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', LINT, ...files], { cwd: __dirname });
  return JSON.parse(stdout);
}

async function lint(name: string): Promise<unknown> {
  linted ??= lintAll();
  return (await linted)[names.indexOf(name)];
}

describe.each(libraries)('the library %s', (name) => {
  test('has one file per entry and kind of module with its types, and at most one that they share', () => {
    const { exports } = readManifest(folders[names.indexOf(name)]!);
    const named = Object.values(exports!).flatMap((target) => (target instanceof Object ? Object.values(target) : []));
    const entries = named.flatMap((path: string) => [path, path.replace(/(?<!\.d)\.(m?)(?:js|ts)$/, '.d.$1ts')]);
    const built = tarballs[names.indexOf(name)]!.files.map(({ path }) => path).filter((path) => /^dist\//.test(path));
    // What an inspection of a store needs is loaded when it is first used.
    const unshared = built.filter((path) => !/^dist\/(?:shared|redis-inspection)(?:\.m?js|\.d\.ts)$/.test(path));
    expect(unshared.sort()).toEqual([...new Set(entries)].map((path) => path.slice('./'.length)).sort());
  });

  test('resolves in every tool, with its types', async () => {
    expect(await lint(name)).toEqual({
      publint: [],
      types: 'included',
      problems: [],
      resolutions: entriesOf(name).map((path) => [path, ['node10', 'node16-cjs', 'node16-esm', 'bundler']]),
    });
  });
});

describe.each(commands)('the command of %s', (name) => {
  test('passes publint', async () => expect(await lint(name)).toMatchObject({ publint: [] }));
});

describe('rollgate, as npm installs it', () => {
  const rollgate = async (...args: string[]) =>
    (await run(join(temporary, 'node_modules/.bin/rollgate'), args, { cwd: temporary })).stdout;

  test('helps', async () => expect(await rollgate('--help')).toMatch(/^Usage: rollgate/));

  test('replays a log, and writes a page', async () => {
    const line = '192.0.2.1 - - [01/Mar/2026:00:00:00 +0000] "GET / HTTP/1.1" 200 1\n';
    writeFileSync(join(temporary, 'access.log'), line.repeat(2));
    const report = await rollgate('simulate', 'access.log', '--limit', '1/1m', '--html', 'report.html');
    expect(report).toMatch(/^1\/1m would have rejected 1 of 2 requests \(50%\), all from one caller\n/);
    expect(readFileSync(join(temporary, 'report.html'), 'utf8')).toContain('uPlot');
  });
});

describe('installed next to the frameworks and clients', () => {
  test.each(['use.mjs', 'use.cjs', 'compare.mjs'])('%s runs', (file) => runThere(process.execPath, file));

  test.each(['use.mjs', 'use.cjs'])('%s runs on Bun', (file) => runThere(PLATFORM_PROGRAMS.bun(), file));

  test.each(['use.mjs', 'use.cjs'])('%s runs on Deno', (file) =>
    runThere(PLATFORM_PROGRAMS.deno(), ...DENO_ARGUMENTS, file),
  );

  test.each(RESOLUTIONS)('the types are right for module $module, resolution $moduleResolution', (options) =>
    runThere(
      TSC,
      ...TSC_OPTIONS.split(' '),
      ...Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)]),
      ...['use.mts', 'use.cts'],
    ),
  );
});

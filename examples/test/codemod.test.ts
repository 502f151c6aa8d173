import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { APPS, expectToCompile, makeFolder, pairsOf, ROOT, startPrograms } from './support/migration-pages';

const run = promisify(execFile);
const JSCODESHIFT = join(ROOT, 'examples/node_modules/jscodeshift/bin/jscodeshift.js');
const ROLLGATE = join(ROOT, 'packages/cli/dist/main.js');

/** What is reported of the pairs on a page that a person has to translate. */
const REPORTED: Record<keyof typeof APPS, Record<string, RegExp>> = {
  express: {
    'Custom rejection handler': /line \d+: `handler` was not translated/,
    'Read the decision': /`RateLimitInfo` has no counterpart.*`resetTime` is a date/s,
    'Inspect and reset a client': /Use `limiter.peek`.*instead of `getKey`.*instead of `resetKey`/s,
    'Several processes with Redis': /`store` was not translated/,
    'Two limits from the environment': /`handler` was not translated/,
    'Rules by path that code applies': /`handler` was not translated.*`validate` was not translated/s,
  },
  fastify: { 'Custom rejection body': /`errorResponseBuilder` was not translated/ },
};
/** What is reported of pairs that a person need not translate. */
const REMARKS: Record<string, RegExp> = {
  'Count only successes': /A request whose client disconnects counts now/,
  'Routes that count together': /Routes with the same `groupId` count together now/,
};
/** Pairs whose programs on the page differ more than the options do. */
const OTHERS = [
  'Unknown routes',
  'Your own error handler',
  'Several processes with Redis',
  'Limits that an admin changes',
];

const PROGRAMS = (Object.keys(APPS) as (keyof typeof APPS)[]).flatMap((app) =>
  pairsOf(`migrating-from-${app}-rate-limit.md`).map((pair, index) => ({ ...pair, app, file: `${app}-${index}.mts` })),
);

/** Programs that print what a client gets, each with the option to remove after the translation. */
const LOADED = {
  'express.cjs': {
    program: `const limit = require('express-rate-limit');
const express = require('express');
const app = express();
app.use(limit({ max: 1, standardHeaders: 'draft-8', legacyHeaders: false, validate: false }));
app.get('/', (request, response) => response.end('hello'));
const server = app.listen(0, async () => {
  for (let turn = 0; turn < 2; turn++) {
    const { status, headers } = await fetch('http://localhost:' + server.address().port);
    console.log(status, headers.get('ratelimit-policy'));
  }
  server.close();
});
`,
    reported: /line 4: `validate` was not translated/,
    option: / *validate: false,?/,
    printed: '200 "default";q=1;w=60\n429 "default";q=1;w=60\n',
  },
  'fastify.cjs': {
    program: `const app = require('fastify')();
app.register(require('@fastify/rate-limit'), { max: 1, timeWindow: '10 seconds', enableDraftSpec: true, ban: 2 });
app.after(() => app.get('/', async () => 'hello'));
(async () => {
  for (let turn = 0; turn < 2; turn++) {
    const { statusCode, headers } = await app.inject('/');
    console.log(statusCode, headers['ratelimit-policy']);
  }
})();
`,
    reported: /line 2: Draft 11 replaces `RateLimit-Limit`.*line 2: `ban` was not translated/s,
    option: / *ban: 2,?/,
    printed: '200 "default";q=1;w=10\n429 "default";q=1;w=10\n',
  },
  'fastify.mjs': {
    program: `import Fastify from 'fastify';
const app = Fastify();
await app.register(import('@fastify/rate-limit'));
app.get('/', { config: { rateLimit: { max: 2, keyGenerator: (request) => request.ip, cache: 9 } } }, async () => 'hello');
app.get('/plain', async () => 'hello');
for (const [url, remoteAddress] of [['/', '::1'], ['/plain', '2001:db8:0:1::1'], ['/plain', '2001:db8:0:2::1']]) {
  const { statusCode, headers } = await app.inject({ url, remoteAddress });
  console.log(statusCode, headers['x-ratelimit-limit'], headers['x-ratelimit-remaining'], headers['x-ratelimit-reset']);
}
`,
    reported: /line 4: `cache` was not translated/,
    option: / *cache: 9,?/,
    printed: '200 2 1 60\n200 1000 999 60\n200 1000 999 60\n',
  },
};

/** Other uses of the packages. A file is parsed and never run. */
const OTHER_USES = `import * as everything from 'express-rate-limit';
const load = async () => (await import('express-rate-limit')).default({ limit: 1, skip: (req, res) => res.locals.free });
const { rateLimit: limit, MemoryStore } = require('express-rate-limit');
limit();
const shared = { max: LIMIT, keyGenerator: (req, _res) => req.get('X-Key'), identifier } as const;
limit(shared), limit(shared);
limit({ store: new MemoryStore(), message: (req) => req.path, windowMs: 1, ...more });
jest.mock('express-rate-limit');
import fastifyLimit, { type RateLimitOptions } from '@fastify/rate-limit';
const options: RateLimitOptions = create();
app.register(fastifyLimit, options), app.createRateLimit();
`;

let folder: string;
let reports: string;
beforeAll(async () => {
  folder = makeFolder();
  for (const { app, file, before } of PROGRAMS) writeFileSync(join(folder, file), APPS[app].head + before);
  for (const [file, { program }] of Object.entries(LOADED)) writeFileSync(join(folder, file), program);
  writeFileSync(join(folder, 'uses.ts'), OTHER_USES);
  writeFileSync(join(folder, 'other.ts'), OTHER);
  reports = await migrate('.');
});

const OTHER = `const rateLimit = (options: object) => options;
rateLimit({ max: 1 });
export const settings = { config: { rateLimit: { max: 1, windowMs: 1000 } } };
`;

/** Runs the command with the jscodeshift of the examples, as npx does with one that it has downloaded. */
async function migrate(...args: readonly string[]): Promise<string> {
  const npx = `#!/bin/sh\n[ "$1 $2" = '--yes jscodeshift@17' ] && shift 2 && exec '${process.execPath}' '${JSCODESHIFT}' --run-in-band "$@"\n`;
  writeFileSync(join(folder, 'npx'), npx, { mode: 0o755 });
  // Without NO_COLOR, jscodeshift colors its reports where CI is set.
  const env = { ...process.env, NO_COLOR: '1', PATH: `${folder}:${process.env.PATH}` };
  return (await run(process.execPath, [ROLLGATE, 'migrate', ...args], { cwd: folder, env })).stdout;
}

const read = (file: string) => readFileSync(join(folder, file), 'utf8');
const reportsOf = (file: string) =>
  reports
    .split('\n')
    .filter((line) => line.startsWith(` REP ${file} `))
    .join('\n');

test.each(PROGRAMS.map((program) => [program.app, program.heading, program] as const))(
  'in %s, "%s" is translated or reported',
  (app, heading, { file }) => {
    const reported = REPORTED[app][heading] ?? REMARKS[heading];
    if (reported === undefined) expect(reportsOf(file)).toBe('');
    else expect(reportsOf(file)).toMatch(reported);
    expect(read(file)).toContain(`from '@rollgate/${app}'`);
  },
);

test('the translated programs compile and behave like those of the page', async () => {
  const translated = PROGRAMS.filter(({ app, heading }) => REPORTED[app][heading] === undefined);
  await expectToCompile(translated.map(({ file }) => join(folder, file)));
  const compared = translated.filter(({ heading }) => !OTHERS.includes(heading));
  const { ports, stop } = await startPrograms(
    compared.flatMap(({ app, file, after }) => [
      [app, read(file)],
      [app, APPS[app].head + after],
    ]),
  );
  // One after the other, so that the requests of a program take much less time than its shortest window.
  const found: number[][] = [];
  for (const port of ports) found.push(await statusesOf(port));
  await stop();
  for (const [index, { heading }] of compared.entries()) {
    expect([heading, found[2 * index]]).toEqual([heading, found[2 * index + 1]]);
    expect(found[2 * index]).toContain(heading === 'Custom rejection body' ? 503 : 429);
  }
});

/** The statuses of requests that reach the limits of all programs. */
async function statusesOf(port: number): Promise<number[]> {
  const paths = ['/', '/', '/health', '/search', '/search', '/search', '/daily', '/weekly', '/daily', '/export', '/'];
  const failing = ['/login?status=401', '/login?status=401', '/login?status=401', '/?status=500', '/?status=404', '/'];
  const statuses: number[] = [];
  for (const path of [...paths, ...failing]) {
    const headers = { 'X-Plan': 'paid', 'X-Forwarded-For': path === '/health' ? '203.0.113.8' : '203.0.113.1' };
    statuses.push((await fetch(`http://127.0.0.1:${port}${path}`, { headers })).status);
  }
  for (let turn = 0; turn < 3; turn++) {
    const body = JSON.stringify({ name: 'ann' });
    const headers = { 'Content-Type': 'application/json' };
    statuses.push((await fetch(`http://127.0.0.1:${port}/login`, { method: 'POST', body, headers })).status);
  }
  return statuses;
}

test.each(Object.entries(LOADED))('%s is translated, and runs without what is reported', async (file, loaded) => {
  const { reported, option, printed } = loaded;
  expect(reportsOf(file)).toMatch(reported);
  await expect(run(process.execPath, [join(folder, file)])).rejects.toThrow(/ERR_ROLLGATE/);
  writeFileSync(join(folder, file), read(file).replace(option, ''));
  expect((await run(process.execPath, [join(folder, file)])).stdout).toBe(printed);
});

test('every other use of the packages is translated or reported', () => {
  const text = read('uses.ts').replace(/\s+/g, ' ');
  expect(reportsOf('uses.ts').replaceAll(' REP uses.ts ', '')).toBe(
    [
      'line 1: This use of express-rate-limit was not translated',
      'line 2: `skip` was not translated: `skip` gets other arguments',
      'line 5: `key` may be missing. Such requests share the key "undefined", as before. For them, return `clientKey()`, which is the second argument',
      'line 5: `identifier` was not translated: give the limit this name in `limits`',
      'line 7: `store` was not translated: create a store of Rollgate, such as `RedisStore` of @rollgate/redis',
      'line 7: An object that is spread was not translated. Rename its options where they come from',
      'line 7: `MemoryStore` has no counterpart in Rollgate',
      'line 8: This use of express-rate-limit was not translated',
      'line 11: The options are not an object literal in this file',
      'line 11: Use `app.rateLimiter` instead of `createRateLimit`',
    ].join('\n'),
  );
  expect(text).toContain(
    "(await import('@rollgate/express')).rateLimit({ window: 60000, limit: 1, skip: (req, res) =>",
  );
  expect(text).toContain(
    "const { rateLimit: limit } = require('@rollgate/express'); limit({ window: 60000, limit: 5 });",
  );
  expect(text).toContain(
    "const shared = { window: 60000, limit: LIMIT, key: (req) => String(req.get('X-Key')), identifier } as const;",
  );
  expect(text).toContain(
    'limit({ limit: 5, store: new MemoryStore(), message: (req) => req.path, window: 1, ...more });',
  );
});

test('files without these packages stay as they are', () => {
  expect(read('other.ts')).toBe(OTHER);
});

test('--dry prints the changes and leaves the files', async () => {
  const before = "import { rateLimit } from 'express-rate-limit';\nrateLimit({ windowMs: 1000, max: 1 });\n";
  writeFileSync(join(folder, 'dry.ts'), before);
  expect(await migrate('--dry', 'dry.ts')).toContain(
    "--- dry.ts\n+++ dry.ts\n@@ -1,2 +1,2 @@\n-import { rateLimit } from 'express-rate-limit';\n-rateLimit({ windowMs: 1000, max: 1 });\n+import { rateLimit } from '@rollgate/express';\n+rateLimit({ window: 1000, limit: 1 });",
  );
  expect(read('dry.ts')).toBe(before);
});

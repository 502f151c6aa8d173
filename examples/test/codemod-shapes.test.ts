import { join } from 'node:path';
import transform from '../../packages/cli/src/migrate/transform';

// The package of its types belongs to the command line.
const jscodeshift = require(join(__dirname, '../node_modules/jscodeshift'));

/** Runs the codemod on a file, and returns the result on one line, with the reports. */
function migrate(source: string, options: { diff?: boolean } = {}): { code: string; reports: string[] } {
  const j = jscodeshift.withParser('tsx');
  const reports: string[] = [];
  const api = { j, jscodeshift: j, stats: () => {}, report: (text: string) => void reports.push(text) };
  const code = transform({ path: 'file.ts', source }, api, options) ?? source;
  return { code: code.replace(/\s+/g, ' ').trim(), reports };
}

const IMPORT = "import { rateLimit, ipKeyGenerator } from 'express-rate-limit';\n";
const express = (options: string) => migrate(`${IMPORT}rateLimit({ windowMs: 1, limit: 2, ${options} });`);

describe('functions whose results Rollgate validates', () => {
  test.each([
    ['skip: (req) => req.user && req.user.isStaff', 'skip: (req) => Boolean(req.user && req.user.isStaff)'],
    ['skip: (req) => req.url.match(/css$/)', 'skip: (req) => Boolean(req.url.match(/css$/))'],
    ['skip: (req, res) => isInternal(req)', 'skip: async (req) => Boolean(await isInternal(req))'],
    ['skip: async (req) => await isInternal(req)', 'skip: async (req) => Boolean(await isInternal(req))'],
    ["skip: (req) => req.path === '/'", "skip: (req) => req.path === '/'"],
    ['skip(req) { if (req.a) return req.b; }', 'skip(req) { if (req.a) return Boolean(req.b); return false; }'],
    ['skip: function (req) { return; }', 'skip: function (req) { return false; }'],
    [
      'skip: (req) => { const all = list.filter((x) => { return x.id; }); return all.length; }',
      'skip: (req) => { const all = list.filter((x) => { return x.id; }); return Boolean(all.length); }',
    ],
    ['requestWasSuccessful: (req, res) => res.locals.ok', 'requestWasSuccessful: (req, res) => Boolean(res.locals.ok)'],
    ['keyGenerator: (req) => req.user.id', 'key: (req) => String(req.user.id)'],
    ['keyGenerator: (req) => `${req.user.id}`', 'key: (req) => `${req.user.id}`'],
    ['keyGenerator: async (req) => find(req)', 'key: async (req) => String(await find(req))'],
    ['keyGenerator: (req) => find(req)', 'key: async (req) => String(await find(req))'],
    ['keyGenerator: (req) => req.ip', 'key: (req) => req.ip'],
  ])('%s becomes %s', (before, after) => {
    const { code, reports } = express(before);
    expect(code).toContain(`{ window: 1, limit: 2, ${after}`);
    expect(reports).toEqual([]);
  });

  test('a named function is called by a new one, and one from elsewhere is reported', () => {
    const named = 'function isStaff(req) { return req.user; }\nconst toKey = (req) => req.id;\n';
    const { code } = migrate(
      `${IMPORT}${named}rateLimit({ skip: isStaff, keyGenerator: toKey, windowMs: 1, limit: 1 });`,
    );
    expect(code).toContain('skip: async (request) => Boolean(await isStaff(request)),');
    expect(code).toContain('key: async (request) => String(await toKey(request)),');
    expect(code).toContain('function isStaff(req) { return req.user; }');
    expect(express('skip: isStaff, keyGenerator: toKey').reports).toEqual([
      'line 2: `skip` was not translated: `skip` must be a function that returns a boolean. Check it by hand',
      'line 2: `keyGenerator` was not translated: `key` must be a function that returns a text. Check it by hand',
    ]);
  });

  test.each(['req.user?.id', "req.get('X-Key')", "req.headers['x-key']"])(
    'a key that may be missing is reported: %s',
    (key) => {
      const { code, reports } = express(`keyGenerator: (req) => ${key}`);
      expect(code).toContain(`key: (req) => String(${key})`);
      expect(reports).toEqual([expect.stringMatching(/^line 2: `key` may be missing.*return `clientKey\(\)`/)]);
    },
  );

  test.each([
    ['limit: process.env.MAX', 'limit: Number(process.env.MAX ?? 5)'],
    ['limit: UNSET', 'limit: Number(UNSET ?? 5)'],
    ['limit: process.env.MAX ?? 7', 'limit: Number(process.env.MAX ?? 7)'],
    ['limit: Number(process.env.MAX)', 'limit: Number(process.env.MAX)'],
    ['limit: MAX', 'limit: Number(MAX)'],
    ['max: OTHER', 'limit: OTHER'],
    ['max: 0', 'limit: 0'],
  ])('a number from the environment is no text: %s', (before, after) => {
    const head = `${IMPORT}const { MAX = 7, UNSET } = process.env;\nconst OTHER = 3;\n`;
    expect(migrate(`${head}rateLimit({ windowMs: 1, ${before} });`).code).toContain(`{ window: 1, ${after} }`);
  });
});

test.each([
  ["message: '<h1>Later</h1>'", "message: { html: '<h1>Later</h1>' }", undefined],
  [
    'keyGenerator: (req) => { if (req.user) return req.user.id; }',
    "key: (req) => { if (req.user) return String(req.user.id); return 'undefined'; }",
    '`key` may be missing',
  ],
  ['statusCode: 200', 'statusCode: 200', '`statusCode` was not translated: it must be from 400 to 599'],
  ['handler: (req, res) => res.json({})', 'handler: (req, res) => res.json({})', 'The response of `handler` has the'],
  ['skipFailedRequests: true', 'skipFailedRequests: true', 'A request whose client disconnects counts now'],
])('%s keeps its effect, or is reported', (before, after, report) => {
  const { code, reports } = express(before);
  expect(code).toContain(`{ window: 1, limit: 2, ${after} }`);
  expect(reports).toEqual(report === undefined ? [] : [expect.stringContaining(report)]);
});

test.each([
  ['ipKeyGenerator(req.ip)', 'key: (req, clientKey) => clientKey()'],
  ['ipKeyGenerator(req.ip!)', 'key: (req, clientKey) => clientKey()'],
  ["ipKeyGenerator(req.ip ?? '')", 'key: (req, clientKey) => clientKey()'],
  [
    "ipKeyGenerator(req.headers['cf-connecting-ip'])",
    "key: req => createClientKey(56)(req.headers['cf-connecting-ip'])",
  ],
  ["ipKeyGenerator(req.get('x') ?? req.ip)", "createClientKey(56)(req.get('x') ?? req.ip)"],
  ['ipKeyGenerator(req.ip, 64)', 'createClientKey(64)(req.ip)'],
  ['{ const ip = req.get("x"); return ipKeyGenerator(ip); }', 'return createClientKey(56)(ip);'],
])('%s keeps the address', (key, after) => {
  const { code, reports } = express(`keyGenerator: (req) => ${key}`);
  expect(code.replaceAll('(req) =>', 'req =>')).toContain(after.replaceAll('(req) =>', 'req =>'));
  expect(code).not.toContain('ipKeyGenerator(');
  expect(reports).toEqual([]);
  if (after.includes('createClientKey'))
    expect(code).toMatch(/import \{[^}]*createClientKey[^}]*\} from '@rollgate\/express'/);
});

test('ipKeyGenerator outside of the options is translated, too', () => {
  const { code } = migrate(
    `${IMPORT}rateLimit({ windowMs: 1, limit: 1 });\nexport const keyOf = (a) => ipKeyGenerator(a);`,
  );
  expect(code).toContain('export const keyOf = (a) => createClientKey(56)(a);');
});

test('require() as a namespace stays one', () => {
  const { code, reports } = migrate(`const erl = require('express-rate-limit');
exports.a = erl.rateLimit({ windowMs: 1000, limit: 3 });
exports.b = erl({ windowMs: 1000, max: 3 });
exports.c = erl.default({ windowMs: 1000, max: 3 });
exports.d = new erl.MemoryStore();
exports.e = erl;`);
  expect(code).toContain(
    "const erl = require('@rollgate/express'); exports.a = erl.rateLimit({ window: 1000, limit: 3 });",
  );
  expect(code).toContain('exports.b = erl.rateLimit({ window: 1000, limit: 3 });');
  expect(code).toContain('exports.c = erl.rateLimit({ window: 1000, limit: 3 });');
  expect(reports).toEqual([
    'line 5: `MemoryStore` has no counterpart in Rollgate',
    'line 6: This use of express-rate-limit was not translated',
  ]);
});

test('an import that is added joins that of the package', () => {
  const { code } = migrate(`'use strict';
const { rateLimit, ipKeyGenerator } = require('express-rate-limit');
exports.a = rateLimit({ windowMs: 1, max: 1, keyGenerator: (req) => ipKeyGenerator(req.get('x')) });`);
  expect(code).toContain("'use strict'; const { rateLimit, createClientKey } = require('@rollgate/express');");
});

test('options that are set later are reported', () => {
  const { code, reports } = migrate(`${IMPORT}const options = { max: 3 };
options.windowMs = 500;
if (strict) options['max'] = 1;
other.max = 2;
rateLimit(options);`);
  expect(code).toContain('const options = { window: 60000, limit: 3 };');
  expect(reports).toEqual([
    'line 3: An option that is set later was not translated: `options.windowMs`',
    "line 4: An option that is set later was not translated: `options['max']`",
  ]);
});

test('members of the old decision are reported, and those of other objects are not', () => {
  const { reports } = migrate(`${IMPORT}rateLimit({ windowMs: 1, limit: 1 });
app.get('/', (req, res) => res.json(req.rateLimit.used));
const info = req.rateLimit; send(info.current);
const { key, limit } = req.rateLimit!;
const f = ({ rateLimit: { used } }) => used;
const g = (x) => x.toString() + x.hasOwnProperty('a') + x.constructor + map.key + other.used;
send(req.rateLimit?.key);`);
  expect(reports.map((text) => text.slice(0, 35))).toEqual([
    'line 3: A decision has no `used`. I',
    'line 4: A decision has no `current`',
    'line 5: A decision has no `key`',
    'line 6: A decision has no `used`. I',
    'line 8: A decision has no `key`',
  ]);
});

test('members of a decision on another property are reported, and so is an awaited member with a limiter', () => {
  const { reports } = migrate(`${IMPORT}class Service {
  own = rateLimit({ windowMs: 1, max: 1, requestPropertyName: 'quota' });
  constructor() { this.other = rateLimit({ windowMs: 1, max: 1 }); }
  async use(req, res, next) {
    await this.own(req, res, next);
    await this.other(req, res, next);
    send(req.quota?.used);
  }
}
const f = ({ quota: { current } }) => current;`);
  expect(reports.map((text) => text.slice(0, 35))).toEqual([
    'line 6: `await this.own(…)`: check ',
    'line 7: `await this.other(…)`: chec',
    'line 8: A decision has no `used`. I',
    'line 11: A decision has no `current',
  ]);
});

test('what an object that is spread may set stays overridable', () => {
  const { code, reports } = migrate(`${IMPORT}const defaults = { max: 10, standardHeaders: true, legacyHeaders: false };
export const create = (given) => rateLimit({ ...defaults, ...given });`);
  expect(code).toContain("const defaults = { limit: 10, headers: 'draft-11' };");
  expect(code).toContain('rateLimit({ window: 60000, limit: 5, ...defaults, ...given })');
  expect(reports).toEqual([
    expect.stringContaining('Draft 11 replaces'),
    'line 3: An object that is spread was not translated. Rename its options where they come from',
  ]);
  const placed = migrate(
    `${IMPORT}rateLimit({ windowMs: 1, max: 1, legacyHeaders: false, standardHeaders: true, ...given });`,
  );
  expect(placed.code).toContain("limit: 1, headers: 'draft-11', ...given }");
});

test('types are translated', () => {
  const { code, reports } =
    migrate(`import { rateLimit, type RateLimitRequestHandler, type Options } from 'express-rate-limit';
const limiters: RateLimitRequestHandler[] = [];
const options: Partial<Options> = { max: 1 };
limiters.push(rateLimit({ windowMs: 1, max: 1 }));`);
  expect(code).toContain(
    "import { rateLimit, type RateLimitMiddleware, type RateLimitOptions } from '@rollgate/express';",
  );
  expect(code).toContain('RateLimitMiddleware[] = []; const options: Partial<RateLimitOptions>');
  expect(reports).toEqual([]);
});

test('what a class, a parameter or a function declares to be options is translated', () => {
  const { code, reports } = migrate(`import type { Options } from 'express-rate-limit';
class Config { private readonly strict: Partial<Options> = { max: 1 }; }
const create = (given: Partial<Options> = { max: 2 }) => given;
const short = (): Partial<Options> => ({ max: 3 });
function long(): Partial<Options> { return { max: 4 }; }`);
  for (const limit of [1, 2, 3, 4]) expect(code).toContain(`{ limit: ${limit} }`);
  expect(reports).toEqual([]);
});

test('a handler of two arguments works unchanged, and an awaited middleware is reported', () => {
  const { reports } = migrate(`${IMPORT}const handler = async (req, res) => res.status(429).json({});
const limiter = rateLimit({ windowMs: 1, max: 1, handler });
app.use(async (req, res, next) => { await limiter(req, res, () => {}); next(); });`);
  expect(reports).toEqual(['line 4: `await limiter(…)`: check that what follows does not run for a rejected request']);
});

test.each([
  [
    "app.post('/c', { preHandler: app.rateLimit({ max: 3, timeWindow: '1 minute' }) }, run);",
    "app.rateLimit({ limit: 3, window: '1 minute' })",
  ],
  [
    "const LIMITS = { b: { max: 3 } };\napp.get('/', { config: { rateLimit: LIMITS.b } }, run);",
    'const LIMITS = { b: { limit: 3 } };',
  ],
  ["app.get('/', { config: { rateLimit: { max: 3 } as const } }, run);", '{ limit: 3 } as const'],
  ["const o = { max: 3, timeWindow: 9 };\napp.get('/', { config: { rateLimit: o } }, run);", '{ limit: 3, window: 9 }'],
])('a file with routes only is translated: %s', (source, after) => {
  const { code, reports } = migrate(source);
  expect(code).toContain(after);
  expect(reports).toEqual([]);
});

test('options of a route that come from elsewhere are reported', () => {
  const { code, reports } = migrate(`import { LOGIN } from './limits';
const SEARCH = { rateLimit: { max: 3 } };
app.get('/search', { config: SEARCH }, run);
app.get('/login', { config: { rateLimit: LOGIN } }, run);`);
  expect(code).toContain('const SEARCH = { rateLimit: { limit: 3 } };');
  expect(reports).toEqual(['line 4: The options are not an object literal in this file']);
});

test('text from the environment means something else in Fastify', () => {
  const { code, reports } = migrate(`import rateLimit from '@fastify/rate-limit';
app.register(rateLimit, { ipv6Subnet: 56, max: process.env.MAX, timeWindow: process.env.WINDOW ?? '1 minute' });
app.get('/', { config: { rateLimit: { max: Infinity, timeWindow: '60000' } } }, run);`);
  expect(code).toContain("limit: Number(process.env.MAX ?? 1000), window: process.env.WINDOW ?? '1 minute' }");
  expect(reports).toEqual([
    expect.stringContaining('takes 1000 for a `max` that is text or Infinity'),
    expect.stringContaining("Its text needs a unit, such as '1m'"),
    expect.stringContaining('takes 1000 for a `max` that is text or Infinity'),
    expect.stringContaining("'60000' is not a duration of Rollgate"),
  ]);
});

test('an unknown option of a route is reported', () => {
  const { code, reports } = migrate("app.get('/', { config: { rateLimit: { max: 3, unknown: 1 } } }, run);");
  expect(code).toContain('{ limit: 3, unknown: 1 }');
  expect(reports).toEqual(['line 1: `unknown` was not translated: it is not a known option']);
});

describe('shapes of real apps', () => {
  test('a module whose options come from the environment and whose store comes from a function', () => {
    const { code, reports } = migrate(`const { rateLimit } = require('express-rate-limit');
const { createStore } = require('./store');
const { LOGIN_WINDOW = 5, LOGIN_MAX = 7 } = process.env;
const windowMs = LOGIN_WINDOW * 60 * 1000;
const handler = async (req, res) => res.status(429).json({ message: 'later' });
const options = { windowMs, max: LOGIN_MAX, handler, keyGenerator: (req) => req.ip, store: createStore('login') };
module.exports = rateLimit(options);`);
    expect(code).toContain(
      'const options = { window: windowMs, limit: Number(LOGIN_MAX), handler, key: (req) => req.ip,',
    );
    expect(reports).toEqual([expect.stringContaining('`store` was not translated')]);
  });

  test('typed constants for routes of Fastify', () => {
    const { code, reports } = migrate(`import type { RateLimitOptions } from '@fastify/rate-limit';
export const strict: RateLimitOptions = {
  max: (request, key) => (request.user ? 100 : 10), timeWindow: '1 minute',
  errorResponseBuilder: (request, context) => ({ statusCode: 429, message: context.after }),
};`);
    expect(code).toContain('strict: RateLimitRouteOptions = { limit: (request) => (request.user ? 100 : 10)');
    expect(code).toContain("window: '1 minute'");
    expect(reports).toEqual([expect.stringContaining('`errorResponseBuilder` was not translated')]);
  });

  test('a manager that creates limiters at run time', () => {
    const { code, reports } = migrate(`import { rateLimit, type RateLimitRequestHandler } from 'express-rate-limit';
export class Manager {
  private limiters: Record<string, RateLimitRequestHandler> = {};
  add(id: string, duration: number, limit: number, message: string) {
    this.limiters[id] = rateLimit({ windowMs: duration * 1000, max: limit, handler: (req, res) => { res.status(429).send(message); } });
  }
}`);
    expect(code).toContain('Record<string, RateLimitMiddleware>');
    expect(code).toContain('rateLimit({ window: duration * 1000, limit, handler:');
    expect(reports).toEqual([]);
  });

  test('a decorated service, and one that makes a limiter for each request', () => {
    const { code } = migrate(`import { rateLimit } from 'express-rate-limit';
@Injectable()
export class Plans {
  @Inject() private readonly store: Store;
  middleware() {
    return (req, res, next) => rateLimit({ windowMs: 60_000, limit: this.limitOf(req.user.plan) })(req, res, next);
  }
}`);
    expect(code).toContain('rateLimit({ window: 60_000, limit: this.limitOf(req.user.plan) })(req, res, next)');
    expect(code).toContain('@Injectable() export class Plans');
  });

  test('Koa with rate-limiter-flexible and an insurance is reported', () => {
    const source = `import { RateLimiterRedis, RateLimiterMemory } from 'rate-limiter-flexible';
const insuranceLimiter = new RateLimiterMemory({ points: 1, duration: 1 });
const limiter = new RateLimiterRedis({ storeClient, points: 5, duration: 1, insuranceLimiter });
export default async (ctx, next) => { await limiter.consume(ctx.ip); await next(); };`;
    const { code, reports } = migrate(source);
    expect(code).toBe(source.replace(/\s+/g, ' '));
    expect(reports).toEqual([expect.stringContaining('migrating-from-rate-limiter-flexible')]);
  });
});

test('a diff has the changes and the lines around them', () => {
  const lines = Array.from({ length: 20 }, (_, index) => `const a${index} = 1;\n`).join('');
  const log = jest.spyOn(console, 'log').mockImplementation(() => {});
  migrate(`${IMPORT}${lines}rateLimit({ windowMs: 1, max: 2 });\n${lines.replaceAll('a', 'b')}`, { diff: true });
  const [[printed]] = log.mock.calls as [[string]];
  log.mockRestore();
  expect(printed).toContain('--- file.ts\n+++ file.ts\n@@ -1,5 +1,5 @@\n-import { rateLimit, ipKeyGenerator }');
  expect(printed).toContain(
    '@@ -18,9 +18,9 @@\n const a16 = 1;\n const a17 = 1;\n const a18 = 1;\n const a19 = 1;\n-rateLimit({ windowMs: 1, max: 2 });\n+rateLimit({ window: 1, limit: 2 });\n',
  );
  expect(printed).not.toContain('const a9 = 1;');
});

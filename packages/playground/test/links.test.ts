import * as express from '@rollgate/express';
import { toLimits } from '../src/engine/limits.js';
import { toSnippet } from '../src/page/snippet.js';
import { parseSearch, toSearch } from '../src/page/url-state.js';
import { describeFailure } from '../src/server/redis-failure.js';
import { ALGORITHM_NAMES, DEFAULT_SETTINGS, type Settings } from '../src/shared/settings.js';

const CHANGED: Settings = { algorithm: 'token', limit: 5, windowMs: 4000, minDifferenceMs: 500 };

test('a link contains what differs from the defaults, and leads to the same state', () => {
  expect(toSearch('', DEFAULT_SETTINGS, false, undefined)).toBe('');
  const search = toSearch('?autoplay=off', CHANGED, true, 'burst');
  expect(search).toBe('?autoplay=off&algorithm=token&limit=5&window=4s&minDifference=0.5s&rows=all&scenario=burst');
  expect(parseSearch(search)).toEqual({
    ...{ settings: CHANGED, hasSettings: true, scenario: 'burst', showsAll: true, isAutoplayOn: false },
  });
  expect(toSearch(search, DEFAULT_SETTINGS, false, undefined)).toBe('?autoplay=off');
});

test.each([
  ...['?algorithm=magic', '?limit=0', '?limit=51', '?limit=ten', '?limit=', '?limit=1.5', '?window=1s', '?window=4000'],
  ...['?minDifference=6s', '?minDifference=-1s', '?scenario=constructor', '?rows=none', ''],
])('the link %j has nothing valid, so the defaults stay', (search) => {
  expect(parseSearch(search)).toEqual({
    ...{ settings: DEFAULT_SETTINGS, hasSettings: false, scenario: undefined, showsAll: false, isAutoplayOn: true },
  });
});

test.each(ALGORITHM_NAMES)('the code for %s creates the limit of the playground', (algorithm) => {
  for (const settings of [
    { ...DEFAULT_SETTINGS, algorithm },
    { ...CHANGED, algorithm },
    { ...CHANGED, algorithm, limit: 7 },
  ]) {
    let used: unknown;
    const rateLimit = (options: object) => {
      used = 'limits' in options ? options.limits : express.rollingWindow(options as never);
      express.rateLimit(options as never);
    };
    const [, names, body] = /^import \{ (.+) \} from '@rollgate\/express';\n\n(.+)$/s.exec(
      toSnippet(settings, 'memory'),
    )!;
    const run = new Function('app', 'exported', `const { ${names} } = exported;\n${body}`);
    run({ use() {} }, { ...express, rateLimit });
    expect(JSON.stringify(used)).toBe(JSON.stringify(toLimits(settings)[algorithm]));
  }
});

test('on Redis, the code contains the store', () => {
  const code = toSnippet(CHANGED, 'redis');
  expect(code).toContain("import { RedisStore } from '@rollgate/redis';\nimport { Redis } from 'ioredis';");
  expect(code).toMatch(/\n {2}store: new RedisStore\(\{ client: new Redis\(\) \}\),\n\}\)\);\n$/);
});

test.each([
  [Object.assign(new Error('connect ECONNREFUSED ::1:1'), { code: 'ECONNREFUSED' }), /^Nothing listens there\. /],
  [Object.assign(new Error('getaddrinfo'), { code: 'ENOTFOUND' }), /^The host is unknown\. /],
  [new Error('WRONGPASS invalid username-password pair'), /^Redis requires another user name or password\. /],
  [new Error('ERR DB index is out of range'), /^Redis has no such database\. /],
  [new Error('Command timed out'), /^Redis did not respond as expected within 3 s\. /],
])('%s at the start comes with advice instead of the text of the client', (error, advice) => {
  expect(describeFailure(new Error('Reached the max retries per request limit'), error)).toMatch(advice);
});

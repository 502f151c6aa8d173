import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const UNTRUSTED = 'ROLLGATE_UNTRUSTED_PROXY';
const EVERY = 'ROLLGATE_TRUSTS_EVERY_PROXY';
const UNREAD = 'ROLLGATE_UNREAD_FORWARDED';
const SHARED = 'ROLLGATE_SHARED_KEYS';
const PER_REQUEST = 'ROLLGATE_LIMITER_PER_REQUEST';

type Scenario = [title: string, scenario: object, codes: string[]];

const FORWARDED: Scenario[] = [
  ['absent', {}, [UNTRUSTED]],
  ['false', { trustProxy: false }, [UNTRUSTED]],
  ['true', { trustProxy: true }, [EVERY]],
  ['a list of all', { trustProxy: ['0.0.0.0/1', '128.0.0.0/1'] }, [EVERY]],
  ['an address', { trustProxy: '127.0.0.1' }, []],
  ['a list', { trustProxy: ['10.0.0.0/8', 'loopback'] }, []],
  ['-1', { trustProxy: -1 }, [UNTRUSTED]],
  ["'0'", { trustProxy: '0' }, [UNTRUSTED]],
  ['another address', { trustProxy: '10.0.0.1' }, [UNTRUSTED]],
  ['an own `request.ip`', { trustProxy: false, hasOwnAddress: true }, []],
  ['a function', { proxies: ['127.0.0.1'] }, []],
  ['absent, with a key', { hasKey: true }, []],
  ['true, with a key', { trustProxy: true, hasKey: true }, []],
  ['absent, but silent', { options: { silence: [UNTRUSTED] } }, []],
  ['true, but silent of another one', { trustProxy: true, options: { silence: [UNTRUSTED] } }, [EVERY]],
];

const headers = { forwarded: 'for=198.51.100.7' };

const OTHERS: Scenario[] = [
  ['Forwarded, which Fastify does not read', { headers }, [UNREAD]],
  ['Forwarded, without `trustProxy`', { trustProxy: false, headers }, [UNREAD]],
  ['Forwarded, with a key', { hasKey: true, headers }, []],
  ['two registrations on one store', { isTwice: true, isShared: true }, [SHARED]],
  ['two on one store, silent', { isTwice: true, isShared: true, options: { silence: [SHARED] } }, []],
  ['two with stores of their own', { isTwice: true }, []],
  ['two without global', { isTwice: true, isShared: true, options: { global: false } }, []],
  ['many routes with one request each', { routes: 40, isShared: true }, []],
  ['many routes that were added before the plugin had loaded', { routes: 40, isLate: true }, []],
  ['a hook made for each request', { isPerRequest: true }, [PER_REQUEST]],
  ['a hook made for each request, silent', { isPerRequest: true, options: { silence: [PER_REQUEST] } }, []],
];

const SCENARIOS: Scenario[] = [
  ...FORWARDED.map(([title, ...rest]): Scenario => [`X-Forwarded-For, with \`trustProxy\` ${title}`, ...rest]),
  ...OTHERS.map(([title, scenario, codes]): Scenario => [title, { trustProxy: 'loopback', ...scenario }, codes]),
];

describe.each(['fastify', 'fastify50'])('the warnings with %s', (module) => {
  let results: { codes: string[]; statuses: number[] }[];
  beforeAll(async () => {
    const script = `${__dirname}/support/warned.mjs`;
    const scenarios = [...SCENARIOS.map(([, scenario]) => scenario), { trustProxy: 1 }];
    const { stdout } = await promisify(execFile)(process.execPath, [script, JSON.stringify({ module, scenarios })]);
    results = JSON.parse(stdout);
  });

  // Newer versions of Fastify ignore a number, so that no proxy is trusted.
  test('for X-Forwarded-For, with `trustProxy` a hop count', () => {
    expect(results.at(-1)).toEqual({ codes: module === 'fastify' ? [UNTRUSTED] : [], statuses: [200] });
  });

  test.each(SCENARIOS.map(([title, , codes], index) => ({ title, codes, index })))('for $title', ({ codes, index }) => {
    expect(results[index]).toEqual({ codes, statuses: [200] });
  });
});

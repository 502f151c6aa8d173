import { figureOf } from './figures.js';
import { percent, tenths, wrap } from './format.js';
import { replaceSection } from './page-sections.js';
import type { ReadResults, Results } from './readme.js';

/** The alternative whose figures the home page states, and its store in Redis. */
const [ALTERNATIVE, ITS_REDIS_STORE] = ['express-rate-limit', 'rate-limit-redis'];

/** Returns `docs/index.md` with its proofs, whose figures come from the result files. */
export function renderHome(page: string, read: ReadResults): string {
  const points = [
    [
      'Exact.',
      'Property tests compare every decision with a naive log of all requests, to the microsecond. [Guarantees](guarantees.md)',
    ],
    ['Several limits in one step.', describeTwoLimits(read('comparison'))],
    ['Fast on Redis.', describeRedis(read('redis'))],
    ['Still enforced while Redis is down.', describeOutage(read('comparison'))],
    [
      'A limit from your own log.',
      '`npx @rollgate/cli suggest access.log --window 1m --reject 0.1%` prints the lowest limit that would have rejected at most one request in a thousand. [Command line](cli.md)',
    ],
  ];
  const list = points.map(([title, text]) => wrap(`- **${title}** ${text}`)).join('\n');
  return replaceSection(page, 'proofs', list);
}

function describeTwoLimits(comparison: Results): string {
  const allowedBy = (library: string) => figureOf(comparison, 'two-limits', library);
  return [
    'By default, a request that one limit rejects uses no quota of the others.',
    'With limits of 10 an hour and 2 a second, a client sends 5 requests at once and then one every two seconds.',
    `In the first hour, Rollgate allows ${allowedBy('rollgate')} of them, and ${ALTERNATIVE} allows ${allowedBy(ALTERNATIVE)}. [Comparison](comparison.md#the-limit)`,
  ].join(' ');
}

function describeRedis(redis: Results): string {
  const ratio = (what: string) =>
    figureOf(redis, `${what}: new keys, 64 in flight`, 'rollgate') /
    figureOf(redis, `${what}: new keys, 64 in flight`, ITS_REDIS_STORE);
  return [
    `With 64 checks of new keys in flight, Rollgate completes ${tenths(ratio('checks/s'))} times as many per second as`,
    `${ITS_REDIS_STORE}, the store of ${ALTERNATIVE}.`,
    `The Redis server then spends ${percent(ratio('server CPU µs/check'))} as much CPU time on each check as with ${ITS_REDIS_STORE}. [Benchmarks](benchmarks.md)`,
  ].join(' ');
}

function describeOutage(comparison: Results): string {
  const secondsOf = (library: string, outcome: RegExp) => {
    const cell = comparison.rows.find(({ what }) => what === 'redis-stopped')?.cells[library];
    const text = String(typeof cell === 'object' ? cell.text : cell);
    const seconds = outcome.exec(text)?.[1];
    if (seconds === undefined) throw new Error(`Expected an outcome like ${outcome} of ${library}, got "${text}"`);
    return seconds;
  };
  const [decided, waited] = [
    secondsOf('rollgate', /^still limited, within (\d+) s$/),
    secondsOf(ALTERNATIVE, /^no reply in (\d+) s$/),
  ];
  return [
    `When Redis stops, each process enforces the limits in its own memory. Even then, Rollgate decides every request within ${decided} s.`,
    `In the same test, ${ALTERNATIVE} sends no reply within ${waited} s. [When Redis is down](store-failures.md)`,
  ].join(' ');
}

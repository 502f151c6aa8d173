import { figureOf, percent, tenths, wrap } from './format.js';
import { replaceSection } from './page-sections.js';
import type { ReadResults, Results } from './readme.js';

/** The alternative whose figures the home page states, and its store in Redis. */
const [ALTERNATIVE, ITS_REDIS_STORE] = ['express-rate-limit', 'rate-limit-redis'];

/** Returns `docs/index.md` with its proofs, whose figures come from the result files. */
export function renderHome(page: string, read: ReadResults): string {
  const points = [describeMost(read('comparison')), describeRedis(read('redis')), describeOutage(read('comparison'))];
  const list = points.map(([title, text]) => wrap(`- **${title}** ${text}`)).join('\n');
  return replaceSection(page, 'proofs', list);
}

function describeMost(comparison: Results): [title: string, text: string] {
  const mostOf = (library: string) => figureOf(comparison, 'most-in-window', library);
  return [
    `At most ${mostOf('rollgate')}, not ${mostOf(ALTERNATIVE)}`,
    `With a limit of 10 per minute, ${ALTERNATIVE} lets through up to ${mostOf(ALTERNATIVE)} requests within one minute, and Rollgate ${mostOf('rollgate')}. [Comparison](comparison.md#the-limit)`,
  ];
}

function describeRedis(redis: Results): [title: string, text: string] {
  const ratio = (what: string) =>
    figureOf(redis, `${what}: new keys, 64 in flight`, 'rollgate') /
    figureOf(redis, `${what}: new keys, 64 in flight`, ITS_REDIS_STORE);
  return [
    `${tenths(ratio('checks/s'))} × the throughput`,
    `With 64 checks at a time, one Redis server decides ${tenths(ratio('checks/s'))} times as many per second as with ${ITS_REDIS_STORE}, the Redis store of ${ALTERNATIVE}, and each takes ${percent(1 - ratio('server CPU µs/check'))} less of the server's CPU. [Figures](comparison.md#speed-and-memory)`,
  ];
}

function describeOutage(comparison: Results): [title: string, text: string] {
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
    'Redis down? Still limited',
    `While Redis is stopped, each process limits by itself, and decides each request within ${decided} s. With ${ALTERNATIVE}, requests still hung when the measurement ended after ${waited} s. [Outages](store-failures.md)`,
  ];
}

import { figureOf, range, tenths, whole, wrap } from './format.js';
import { FRAMEWORKS } from './http/subjects.js';
import type { Report } from './table.js';

type ReadResults = (part: string) => Report;

const HOSTS = { express: 'Express', fastify: 'Fastify', hono: 'Hono', koa: 'Koa', nest: 'NestJS' };
/** A smaller difference counts as none, because runs scatter that much. */
const TOLERANCE = 0.1;
const REDIS_LIMITERS = ['rate-limit-redis', 'rate-limiter-flexible', 'rolling-rate-limiter'];
const CHECKS_IN_FLIGHT = [1, 16, 64, 256];

/** The summary of `README.md`, whose figures and comparisons come from the result files. */
export function summarize(read: ReadResults): string {
  const points = [
    ['Memory', describeMemory(read('memory'), read('bytes'))],
    ['HTTP', describeHttp(read)],
    ['Redis', describeRedis(read('redis'))],
    ['Growth', describeGrowth(read('scaling'))],
  ];
  return points.map(([title, text]) => wrap(`- **${title}.** ${text}`)).join('\n');
}

function describeMemory(memory: Report, bytes: Report): string {
  const [, ...others] = Object.keys(memory.headers);
  const rates = memory.rows.map(({ what }) => figureOf(memory, what, 'rollgate'));
  const multiples = others.map((library, place) => {
    const ofRollgate = memory.rows.map(({ what }, index) => figureOf(memory, what, library) / rates[index]!);
    const times = `${range(ofRollgate, (ratio) => ratio.toPrecision(2))} times`;
    return place === 0 ? `${library} makes ${times} as many` : `${library} ${times}`;
  });
  const row = 'bytes per key with 100 hits';
  const counters = others.filter((library) => library !== 'rolling-rate-limiter');
  const ofCounters = counters.map((library) => figureOf(bytes, row, library));
  return [
    `Rollgate makes ${range(rates, (rate) => tenths(rate / 1e6))} million checks per second.`,
    `${listOf(multiples)}.`,
    `A key with 100 requests takes ${whole(figureOf(bytes, row, 'rollgate'))} bytes, and ${range(ofCounters, whole)} in the limiters that keep a counter.`,
  ].join(' ');
}

function describeHttp(read: ReadResults): string {
  const compare = (outcome: string) => {
    const hosts = { 'less processor time': [] as string[], 'about as much': [] as string[], more: [] as string[] };
    for (const [part, host] of Object.entries(HOSTS)) hosts[compareWithAlternative(read(part), outcome)].push(host);
    const groups = Object.entries(hosts).filter(([, names]) => names.length > 0);
    return groups.map(([amount, names]) => `${amount} on ${listOf(names)}`).join(', and ');
  };
  return [
    `The comparison is with limiters made for one framework each: ${listOf(Object.values(FRAMEWORKS).map(({ alternative }) => alternative))}.`,
    `For an allowed request, Rollgate adds ${compare('allowed')}.`,
    `For a rejected one, it adds ${compare('rejected')}.`,
  ].join(' ');
}

function compareWithAlternative(report: Report, outcome: string): 'less processor time' | 'about as much' | 'more' {
  const row = report.rows.find(({ what }) => what.includes(`${outcome}: server CPU µs/request, added`))!;
  const alternative = figureOf(report, row.what, 'alternative');
  const difference = (figureOf(report, row.what, 'rollgate') - alternative) / Math.abs(alternative);
  if (Math.abs(difference) <= TOLERANCE) return 'about as much';
  return difference < 0 ? 'less processor time' : 'more';
}

function describeRedis(redis: Report): string {
  const costs = (inFlight: number, library: string) =>
    figureOf(redis, `server CPU µs/check: new keys, ${inFlight} in flight`, library);
  const others = (inFlight: number) => REDIS_LIMITERS.map((library) => costs(inFlight, library));
  const cheaper = (inFlight: number) =>
    REDIS_LIMITERS.filter((library) => costs(inFlight, library) < costs(inFlight, 'rollgate'));
  const least = CHECKS_IN_FLIGHT.filter((inFlight) => cheaper(inFlight).length === 0);
  return [
    'Checks that wait for Redis at the same time are in flight. Rollgate sends up to 100 of them in one call.',
    least.length > 0 &&
      `With ${listOf(least.map(String))} in flight, Rollgate needs the least processor time of the server for each check.`,
    ...CHECKS_IN_FLIGHT.filter((inFlight) => !least.includes(inFlight)).map((inFlight) => {
      const start = inFlight === 1 ? 'With 1, no other check shares the call, and' : `With ${inFlight},`;
      return `${start} Rollgate needs more than ${listOf(cheaper(inFlight))}.`;
    }),
    `At 64, a check takes ${tenths(costs(64, 'rollgate'))} µs with Rollgate and ${range(others(64), tenths)} µs with the others.`,
  ]
    .filter(Boolean)
    .join(' ');
}

function describeGrowth(scaling: Report): string {
  const limits = scaling.rows.filter(({ what }) => what.startsWith('limit '));
  const times = limits.map(({ what }) => figureOf(scaling, what, 'allowed'));
  const ofKeys = (keys: string) => whole(figureOf(scaling, `${keys} keys`, 'allowed'));
  return [
    `With limits from 10 to 100,000, a check by \`decide\` takes ${range(times, whole)} ns with 10 keys.`,
    `With 1,000 keys it takes ${ofKeys('1,000')} ns.`,
    `With 1,000,000 keys it takes ${ofKeys('1,000,000')} ns, because they do not fit into the processor's cache.`,
    '`decide` is faster than `check`, which the point about memory measures, because it returns the decision without a promise.',
  ].join(' ');
}

function listOf(parts: readonly string[]): string {
  return new Intl.ListFormat('en-GB').format(parts);
}

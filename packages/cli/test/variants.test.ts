import { busyHits, commonDate, createRandom, type Hit, toLog } from './support/log-lines';
import { naive } from './support/naive-limiter';
import { compare, simulate, suggest, write } from './support/rollgate';

const HITS = busyHits(3_000, 6);
const random = createRandom(8);
const HOUR_MS = 3_600_000;

/** The same times, written in another zone. */
const inZone = ({ ms, ip }: Hit) =>
  `${ip} - - [${commonDate(ms + 5.5 * HOUR_MS).replace('+0000', '+0530')}] "GET / HTTP/1.1" 200 5`;
const json = ({ ms, ip, cost }: Hit) => JSON.stringify({ time: ms, ip, cost });
const shifted = (byMs: number) => HITS.map((hit) => ({ ...hit, ms: hit.ms + byMs }));
/** Finer times, with another key for half of the requests. */
const mixed = HITS.map(({ ms, ip }, index) => ({
  ms: ms + (index % 7) * 100,
  ip: index % 2 === 0 ? ip : '198.51.100.1',
}));

const VARIANTS: readonly [string, Readonly<Record<string, string>>, readonly Hit[], string[]][] = [
  ['in another zone', { 'zone.log': toLog(HITS, inZone) }, HITS, []],
  ['shifted by a year', { 'year.log': toLog(shifted(365 * 24 * HOUR_MS)) }, shifted(365 * 24 * HOUR_MS), []],
  ['with milliseconds', { 'fine.log': toLog(mixed, json) }, mixed, []],
  [
    'merged from overlapping files',
    { 'one.log': toLog(HITS), 'other.log': toLog(mixed, json) },
    [...HITS, ...mixed],
    [],
  ],
  ['with costs', ...costed()],
];

function costed(): [Record<string, string>, readonly Hit[], string[]] {
  const hits = mixed.map((hit) => ({ ...hit, cost: Math.ceil(random() ** 3 * 6) }));
  return [{ 'costs.log': toLog(hits, json) }, hits, ['--cost', 'cost']];
}

describe.each(VARIANTS)('a log %s', (_, files, hits, args) => {
  const names = Object.keys(files);
  beforeAll(() => {
    for (const name of names) write(name, files[name]!);
  });

  test.each([3, 8, 40])('simulate with %d per minute equals a naive log', async (limit) => {
    const found = await simulate([...names, ...args, '--limit', `${limit}/1m`]);
    const { rejectedRequests, rejectedCallers } = naive(hits, limit, 60_000);
    expect(found).toMatchObject({ requests: hits.length, rejectedRequests, rejectedCallers });
  });

  test('each limit of suggest equals a naive log', async () => {
    const { curve, forRequests } = (await suggest([...names, ...args])).windows[0]!;
    for (const { limit, ...found } of [forRequests, ...curve]) {
      const { rejectedRequests, rejectedCallers } = naive(hits, limit, 60_000);
      expect(found).toMatchObject({ rejectedRequests, rejectedCallers });
    }
  });

  test('the rolling window of compare equals a naive log', async () => {
    const { algorithms } = await compare([...names, ...args, '--limit', '8/1m']);
    const { rejectedRequests, rejectedCallers } = naive(hits, 8, 60_000);
    expect(algorithms[0]).toMatchObject({ algorithm: 'rolling', rejectedRequests, rejectedCallers, overAdmitted: 0 });
  });
});

import { gzipSync } from 'node:zlib';
import { busyHits, combinedLine, commonDate, commonLine, type Hit, START_MS, toLog } from './support/log-lines';
import { naive } from './support/naive';
import { rollgate, simulate, write } from './support/rollgate';

const HITS = busyHits(1_000, 4);
const LIMIT = ['--limit', '5/1m'];
const EXPECTED = (() => {
  const { refusedRequests, refusedCallers } = naive(HITS, 5, 60_000);
  return { requests: HITS.length, refusedRequests, refusedCallers };
})();
const LOG = toLog(HITS);

const ask = (args: string[], input?: (string | Buffer)[]) => simulate([...args, ...LIMIT], { input });

const toJson = (toRecord: (hit: Hit) => object) => toLog(HITS, (hit) => JSON.stringify(toRecord(hit)));

describe.each<[string, string | Buffer, string[]]>([
  ['combined', LOG, []],
  ['common', toLog(HITS, commonLine), []],
  ['CRLF at the ends', LOG.replaceAll('\n', '\r\n'), []],
  ['no end at the last line', LOG.trimEnd(), []],
  ['empty lines', LOG.replaceAll('\n', '\n\n'), []],
  ['a byte order mark at the start', `\ufeff${LOG}`, []],
  ['gzip', gzipSync(LOG), []],
  ['gzip in two members', Buffer.concat([gzipSync(LOG.slice(0, 5000)), gzipSync(LOG.slice(5000))]), []],
  ['JSON with ISO times', toJson(({ ms, ip }) => ({ time: new Date(ms).toISOString(), ip })), []],
  ['JSON of pino', toJson(({ ms, ip }) => ({ level: 30, time: ms, req: { remoteAddress: ip } })), []],
  ['JSON of Caddy', toJson(({ ms, ip }) => ({ ts: ms / 1000, request: { remote_ip: ip } })), []],
  ['JSON of nginx', toJson(({ ms, ip }) => ({ time_local: commonDate(ms), remote_addr: ip })), []],
  ['JSON with microseconds as text', toJson(({ ms, ip }) => ({ timestamp: `${ms}000`, ip })), []],
  [
    'JSON with an offset',
    toJson(({ ms, ip }) => ({ time: new Date(ms + 5_400_000).toISOString().replace('Z', '+01:30'), ip })),
    [],
  ],
  [
    'JSON with fields of other names',
    toJson(({ ms, ip }) => ({ when: ms, who: { name: ip } })),
    ['--time-field', 'when', '--by', 'who.name'],
  ],
  [
    'JSON with a field named by --key-field',
    toJson(({ ms, ip }) => ({ time: ms, path: ip })),
    ['--by', 'field', '--key-field', 'path'],
  ],
])('a log of the kind: %s', (_, log, args) => {
  test('counts as a file', async () => {
    write('a.log', log);
    expect(await ask(['a.log', ...args])).toMatchObject(EXPECTED);
  });

  test('counts from standard input, whatever the chunks are', async () => {
    const bytes = Buffer.from(log);
    const chunks = Array.from({ length: Math.ceil(bytes.length / 997) }, (_unused, index) =>
      bytes.subarray(index * 997, (index + 1) * 997),
    );
    expect(await ask(args, [bytes.subarray(0, 1), bytes.subarray(1)])).toMatchObject(EXPECTED);
    expect(await ask(['-', ...args], chunks)).toMatchObject(EXPECTED);
  });
});

describe('several files are one log', () => {
  test('in whichever order they are named', async () => {
    const half = LOG.slice(0, LOG.indexOf('\n', LOG.length / 2) + 1);
    write('older.log.gz', gzipSync(half));
    write('newer.log', LOG.slice(half.length));
    expect(await ask(['older.log.gz', 'newer.log'])).toMatchObject(EXPECTED);
    expect(await ask(['newer.log', 'older.log.gz'])).toMatchObject(EXPECTED);
    expect(await ask(['-', 'older.log.gz'], [LOG.slice(half.length)])).toMatchObject(EXPECTED);
  });

  test('also when they are of servers that ran side by side, and of two formats', async () => {
    write('one.log', toLog(HITS.filter((_, index) => index % 2 === 0)));
    const others = HITS.filter((_, index) => index % 2 === 1);
    write(
      'other.log',
      toLog(others, ({ ms, ip }) => JSON.stringify({ time: ms, ip })),
    );
    expect(await ask(['one.log', 'other.log'])).toMatchObject(EXPECTED);
  });
});

describe('who is a caller', () => {
  const hits: Hit[] = [
    { ms: START_MS, ip: '192.0.2.1', user: 'ann', path: '/a?page=1' },
    { ms: START_MS, ip: '2001:db8::1', user: 'ann', path: '/a?page=2' },
    { ms: START_MS, ip: '192.0.2.1', user: 'bob', path: '/b' },
    { ms: START_MS, ip: '192.0.2.1' },
  ];
  const worst = async (...args: string[]) => {
    const { callers, worstHit, log } = await simulate(['who.log', '--limit', '1/1m', ...args]);
    const { key, requests } = worstHit[0]!;
    return { callers, key, requests, without: log.withoutKeyLines };
  };

  test('in the combined format', async () => {
    write('who.log', toLog(hits));
    expect(await worst()).toEqual({ callers: 2, key: '192.0.2.1', requests: 3, without: 0 });
    expect(await worst('--by', 'ip')).toEqual({ callers: 2, key: '192.0.2.1', requests: 3, without: 0 });
    expect(await worst('--by', 'user')).toEqual({ callers: 2, key: 'ann', requests: 2, without: 1 });
    expect(await worst('--by', 'path')).toEqual({ callers: 3, key: '/a', requests: 2, without: 0 });
  });

  test('in JSON lines', async () => {
    const toLine = ({ ms, ip, user, path }: Hit) => JSON.stringify({ time: ms, ip, user, path, tenant: { id: 7 } });
    write('who.log', toLog(hits, toLine));
    expect(await worst('--by', 'user')).toEqual({ callers: 2, key: 'ann', requests: 2, without: 1 });
    expect(await worst('--by', 'path')).toEqual({ callers: 2, key: '/a', requests: 2, without: 1 });
    expect(await worst('--by', 'tenant.id')).toEqual({ callers: 1, key: '7', requests: 4, without: 0 });
  });

  test('requests that do not say are told', async () => {
    write('who.log', toLog(hits));
    const { code, stderr } = await rollgate(['simulate', 'who.log', '--limit', '1/1m', '--by', 'user']);
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: '1 of 4 requests do not say whom they count for, and were left out\n',
    });
  });
});

test('a cost counts for as many', async () => {
  const costs = [3, 1, '4', 9, 1];
  const lines = costs.map((units, second) => JSON.stringify({ time: START_MS + second * 1000, ip: 'a', units }));
  const broken = [0, -1, 1.5, 'x', null].map((units) => JSON.stringify({ time: START_MS, ip: 'a', units }));
  write('costs.log', [...lines, ...broken].join('\n'));
  const answer = await simulate(['costs.log', '--limit', '8/1m', '--cost', 'units']);
  // 3 + 1 + 4 are let through; 9 never can be.
  expect(answer).toMatchObject({ requests: 5, units: 18, refusedRequests: 2, refusedUnits: 10 });
  expect(answer.worstHit[0]!.worstBurst.size).toBe(18);
  expect(answer.log).toMatchObject({
    unparsedLines: 5,
    firstUnparsed: { line: 6, reason: 'its field "units" is no positive whole number' },
  });
});

describe('times', () => {
  const at = (second: number) => combinedLine({ ms: START_MS + second * 1000, ip: 'a' });

  test('lines within the tolerance are sorted, later ones are left out and told', async () => {
    const soon = Array.from({ length: 10 }, () => at(0));
    const later = Array.from({ length: 10 }, () => at(301));
    write('times.log', [...soon, ...later, at(1), at(0), at(0), at(302)].join('\n'));
    const { requests, log } = await ask(['times.log']);
    expect(requests).toBe(22);
    expect(log).toMatchObject({
      leftOutLines: 2,
      firstLeftOut: { file: 'times.log', line: 22, time: new Date(START_MS).toISOString() },
    });
    expect(await ask(['times.log', '--tolerance', '302s'])).toMatchObject({ requests: 24, log: { leftOutLines: 0 } });
    expect((await ask(['times.log', '--tolerance', '0'])).requests).toBe(21);
    const { stderr } = await rollgate(['simulate', 'times.log', ...LIMIT]);
    expect(stderr).toContain('2 lines were more than 5m out of order, and left out; the first, line 22 of times.log');
  });

  test('one date that is far ahead makes nothing else late', async () => {
    const lines = Array.from({ length: 500 }, (_, second) => at(second));
    for (const place of [0, 250]) {
      write('ahead.log', lines.toSpliced(place, 0, at(3 * 365 * 86_400)).join('\n'));
      expect(await ask(['ahead.log'])).toMatchObject({ requests: 500, log: { leftOutLines: 1 } });
    }
  });

  test('a log may pause for as long as it likes', async () => {
    write('pauses.log', Array.from({ length: 20 }, (_, index) => at(index * 86_400)).join('\n'));
    expect(await ask(['pauses.log'])).toMatchObject({ requests: 20, log: { leftOutLines: 0 } });
  });

  test('a log that runs backwards keeps what is within the tolerance', async () => {
    write('back.log', Array.from({ length: 1_000 }, (_, index) => at(1_000 - index)).join('\n'));
    expect(await ask(['back.log'])).toMatchObject({ requests: 301, log: { leftOutLines: 699 } });
    expect(await ask(['back.log', '--tolerance', '1h'])).toMatchObject({ requests: 1_000 });
  });

  test('a zone moves a time, and a fraction counts', async () => {
    const lines = ['[01/Mar/2026:02:00:00 +0200]', '[28/Feb/2026:19:00:30 -0500]', '[01/Mar/2026:00:00:59.9 +0000]'];
    write('zones.log', lines.map((time) => `a - - ${time} "GET / HTTP/1.1" 200 -`).join('\n'));
    const { from, to, refusedRequests } = await simulate(['zones.log', '--limit', '2/1m']);
    expect([from, to, refusedRequests]).toEqual(['2026-03-01T00:00:00.000Z', '2026-03-01T00:00:59.900Z', 1]);
  });
});

describe('addresses count as in front of a server', () => {
  const addresses = ['2001:db8::1', '2001:DB8:0:ff::2', '2001:db8:0:100::1', '203.0.113.7', '::ffff:203.0.113.7'];
  const log = toLog(addresses.map((ip) => ({ ms: START_MS, ip })));

  test.each([
    ['by the first 56 bits of IPv6', [], 3],
    ['by as many as is told', ['--ipv6-prefix', '64'], 4],
    ['by all', ['--ipv6-prefix', '128'], 4],
  ])('%s', async (_how, args, callers) => {
    write('a.log', log);
    expect(await ask(['a.log', ...args])).toMatchObject({ requests: 5, callers });
  });

  test('and users as they are written', async () => {
    write('a.log', JSON.stringify({ time: START_MS, user: '2001:db8::1' }));
    expect(await ask(['a.log', '--by', 'user'])).toMatchObject({ worstHit: [], callers: 1 });
  });
});

import { gzipSync } from 'node:zlib';
import { busyHits, commonLine, type Hit, toLog } from './support/log-lines';
import { naive } from './support/naive-limiter';
import { simulate, write } from './support/rollgate';

const HITS = busyHits(1_000, 4);
const LIMIT = ['--limit', '5/1m'];
const EXPECTED = (() => {
  const { rejectedRequests, rejectedCallers } = naive(HITS, 5, 60_000);
  return { requests: HITS.length, rejectedRequests, rejectedCallers };
})();
const LOG = toLog(HITS);

const simulateLimit = (args: string[], input?: (string | Buffer)[]) => simulate([...args, ...LIMIT], { input });

const toJson = (toRecord: (hit: Hit) => object) => toLog(HITS, (hit) => JSON.stringify(toRecord(hit)));

describe.each<[string, string | Buffer, string[]]>([
  ['combined', LOG, []],
  ['common', toLog(HITS, commonLine), []],
  ['common behind a virtual host', toLog(HITS, (hit) => `www.example.com:443 ${commonLine(hit)}`), []],
  ['common with ports', toLog(HITS, (hit) => commonLine({ ...hit, ip: `${hit.ip}:${hit.ms % 50_000}` })), []],
  ['CRLF at the ends', LOG.replaceAll('\n', '\r\n'), []],
  ['no end at the last line', LOG.trimEnd(), []],
  ['empty lines', LOG.replaceAll('\n', '\n\n'), []],
  ['a byte order mark at the start', `\ufeff${LOG}`, []],
  ['gzip', gzipSync(LOG), []],
  ['gzip in two members', Buffer.concat([gzipSync(LOG.slice(0, 5000)), gzipSync(LOG.slice(5000))]), []],
  ['JSON with ISO times', toJson(({ ms, ip }) => ({ time: new Date(ms).toISOString(), ip })), []],
  ['JSON with microseconds as text', toJson(({ ms, ip }) => ({ timestamp: `${ms}000`, ip })), []],
  [
    'JSON with an offset',
    toJson(({ ms, ip }) => ({ time: new Date(ms + 5_400_000).toISOString().replace('Z', '+01:30'), ip })),
    [],
  ],
  [
    'JSON with fields of other names',
    toJson(({ ms, ip }) => ({ when: ms, visitor: { name: ip } })),
    ['--time-field', 'when', '--by', 'visitor.name'],
  ],
  [
    'JSON with a field named by --key-field',
    toJson(({ ms, ip }) => ({ time: ms, path: ip })),
    ['--by', 'field', '--key-field', 'path'],
  ],
])('a log in this format: %s', (_, log, args) => {
  test('is read from a file', async () => {
    write('a.log', log);
    expect(await simulateLimit(['a.log', ...args])).toMatchObject(EXPECTED);
  });

  test('is read from standard input in chunks of any size', async () => {
    const bytes = Buffer.from(log);
    const chunks = Array.from({ length: Math.ceil(bytes.length / 997) }, (_unused, index) =>
      bytes.subarray(index * 997, (index + 1) * 997),
    );
    expect(await simulateLimit(args, [bytes.subarray(0, 1), bytes.subarray(1)])).toMatchObject(EXPECTED);
    expect(await simulateLimit(['-', ...args], chunks)).toMatchObject(EXPECTED);
  });
});

describe('several files are merged', () => {
  test('in any order of their names', async () => {
    const half = LOG.slice(0, LOG.indexOf('\n', LOG.length / 2) + 1);
    write('older.log.gz', gzipSync(half));
    write('newer.log', LOG.slice(half.length));
    expect(await simulateLimit(['older.log.gz', 'newer.log'])).toMatchObject(EXPECTED);
    expect(await simulateLimit(['newer.log', 'older.log.gz'])).toMatchObject(EXPECTED);
    expect(await simulateLimit(['-', 'older.log.gz'], [LOG.slice(half.length)])).toMatchObject(EXPECTED);
  });

  test('from servers that ran in parallel, in two formats', async () => {
    write('one.log', toLog(HITS.filter((_, index) => index % 2 === 0)));
    const others = HITS.filter((_, index) => index % 2 === 1);
    write(
      'other.log',
      toLog(others, ({ ms, ip }) => JSON.stringify({ time: ms, ip })),
    );
    expect(await simulateLimit(['one.log', 'other.log'])).toMatchObject(EXPECTED);
  });
});

import { gzipSync } from 'node:zlib';
import { busyHits, combinedLine, commonLine, type Hit, START_MS, toLog } from './support/log-lines';
import { naive } from './support/naive-limiter';
import { rollgate, simulate, write } from './support/rollgate';

describe('formats', () => {
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
});

describe('callers', () => {
  const LIMIT = ['--limit', '5/1m'];

  describe('identification of callers', () => {
    const hits: Hit[] = [
      { ms: START_MS, ip: '192.0.2.1', user: 'ann', path: '/a?page=1' },
      { ms: START_MS, ip: '2001:db8::1', user: 'ann', path: '/a?page=2' },
      { ms: START_MS, ip: '192.0.2.1', user: 'bob', path: '/b' },
      { ms: START_MS, ip: '192.0.2.1' },
    ];
    const worst = async (...args: string[]) => {
      const { callers, worstHit, log } = await simulate(['callers.log', '--limit', '1/1m', ...args]);
      const { key, requests } = worstHit[0]!;
      return { callers, key, requests, without: log.withoutKeyLines };
    };

    test('in the combined format', async () => {
      write('callers.log', toLog(hits));
      expect(await worst()).toEqual({ callers: 2, key: '192.0.2.1', requests: 3, without: 0 });
      expect(await worst('--by', 'ip')).toEqual({ callers: 2, key: '192.0.2.1', requests: 3, without: 0 });
      expect(await worst('--by', 'user')).toEqual({ callers: 2, key: 'ann', requests: 2, without: 1 });
      expect(await worst('--by', 'path')).toEqual({ callers: 3, key: '/a', requests: 2, without: 0 });
    });

    test('in JSON lines', async () => {
      const toLine = ({ ms, ip, user, path }: Hit) => JSON.stringify({ time: ms, ip, user, path, tenant: { id: 7 } });
      write('callers.log', toLog(hits, toLine));
      expect(await worst('--by', 'user')).toEqual({ callers: 2, key: 'ann', requests: 2, without: 1 });
      expect(await worst('--by', 'path')).toEqual({ callers: 2, key: '/a', requests: 2, without: 1 });
      expect(await worst('--by', 'tenant.id')).toEqual({ callers: 1, key: '7', requests: 4, without: 0 });
    });

    test('behind a virtual host', async () => {
      const addresses = ['192.0.2.1', '2001:db8::1'];
      const lines = hits.map(
        (hit, index) => `${['www.example.com:443', '[2001:db8::80]:80'][index % 2]} ${combinedLine(hit)}`,
      );
      const plain = addresses.map((ip) => combinedLine({ ms: START_MS, ip, user: 'john smith' }));
      write('callers.log', [...lines, ...plain].join('\n'));
      expect(await worst()).toEqual({ callers: 2, key: '192.0.2.1', requests: 4, without: 0 });
      expect(await worst('--by', 'user')).toEqual({ callers: 3, key: 'ann', requests: 2, without: 1 });
      expect(await worst('--by', 'path')).toEqual({ callers: 3, key: '/', requests: 3, without: 0 });
    });

    test('dashes mean no user', async () => {
      write('callers.log', `host ${commonLine(hits[3]!)}\n${commonLine(hits[0]!)}`);
      expect(await simulate(['callers.log', ...LIMIT, '--by', 'user'])).toMatchObject({
        requests: 1,
        log: { withoutKeyLines: 1 },
      });
    });

    test('a warning counts requests without a caller', async () => {
      write('callers.log', toLog(hits));
      const { code, stderr } = await rollgate(['simulate', 'callers.log', '--limit', '1/1m', '--by', 'user']);
      expect({ code, stderr }).toEqual({
        code: 0,
        stderr:
          '1 of 4 lines (25%) were left out because they name no caller; name its field with `--key-field`, or see `--by`\n',
      });
    });
  });

  test('a request consumes as many units as it costs', async () => {
    const costs = [3, 1, '4', 9, 1];
    const lines = costs.map((units, second) => JSON.stringify({ time: START_MS + second * 1000, ip: 'a', units }));
    const broken = [0, -1, 1.5, 'x', null, 2 ** 31 + 1, true, '0x10', '1e3', [7]].map((units) =>
      JSON.stringify({ time: START_MS, ip: 'a', units }),
    );
    write('costs.log', [...lines, ...broken].join('\n'));
    const report = await simulate(['costs.log', '--limit', '8/1m', '--cost', 'units']);
    // 3 + 1 + 4 are allowed; 9 never can be.
    expect(report).toMatchObject({ requests: 5, units: 18, rejectedRequests: 2, rejectedUnits: 10 });
    expect(report.worstHit[0]!.worstBurst.size).toBe(18);
    expect(report.log).toMatchObject({
      unparsedLines: 10,
      firstUnparsed: { line: 6, reason: 'its field "units" is not an integer from 1 to 2147483648' },
    });
  });

  describe('addresses are normalized as on a server', () => {
    const addresses = ['2001:db8::1', '2001:DB8:0:ff::2', '2001:db8:0:100::1', '203.0.113.7', '::ffff:203.0.113.7'];
    const log = toLog(addresses.map((ip) => ({ ms: START_MS, ip })));

    test.each([
      ['by the first 56 bits of IPv6', [], 3],
      ['by the number of bits given', ['--ipv6-prefix', '64'], 4],
      ['by all', ['--ipv6-prefix', '128'], 4],
    ])('%s', async (_, args, callers) => {
      write('a.log', log);
      expect(await simulate([...LIMIT, 'a.log', ...args])).toMatchObject({ requests: 5, callers });
    });

    test('users are not normalized', async () => {
      write('a.log', JSON.stringify({ time: START_MS, user: '2001:db8::1' }));
      expect(await simulate([...LIMIT, 'a.log', '--by', 'user'])).toMatchObject({ worstHit: [], callers: 1 });
    });

    test.each([
      ['an address', ['--by', 'ip', '--key-field', 'visitor'], 3],
      ['an address by default', ['--key-field', 'visitor'], 3],
      ['as it is written', ['--by', 'visitor'], 5],
      ['as it is written, by --key-field', ['--by', 'field', '--key-field', 'visitor'], 5],
    ])('a JSON field is read as the kind that --by selects: %s', async (_, args, callers) => {
      write('a.log', addresses.map((visitor) => JSON.stringify({ time: START_MS, visitor })).join('\n'));
      expect(await simulate(['a.log', ...LIMIT, ...args])).toMatchObject({ requests: 5, callers });
    });

    test('text longer than an address stays unchanged', async () => {
      const keys = ['a', 'b'].map((end) => 'tenant'.repeat(20) + end);
      write('a.log', keys.map((visitor) => JSON.stringify({ time: START_MS, visitor })).join('\n'));
      expect(await simulate(['a.log', ...LIMIT, '--key-field', 'visitor'])).toMatchObject({ callers: 2 });
    });

    test('a path loses its query', async () => {
      write('a.log', ['/a?b', '/a?c'].map((to) => JSON.stringify({ time: START_MS, to })).join('\n'));
      expect(await simulate(['a.log', ...LIMIT, '--by', 'path', '--key-field', 'to'])).toMatchObject({ callers: 1 });
    });
  });

  test('the callers of a pattern need not be addresses, unless some are', async () => {
    const pattern = ['--pattern', String.raw`^(?<time>\S+) (?<key>\S+)$`];
    const log = (keys: readonly string[]) => keys.map((key) => `2026-03-01T00:00:00Z ${key}\n`).join('');
    write('keys.log', log(['ann', 'ann', 'bob']));
    expect(await simulate(['keys.log', ...LIMIT, ...pattern])).toMatchObject({ callers: 2, warnings: [] });
    write('keys.log', log(['192.0.2.1', '192.0.2.1', 'bob']));
    const { warnings } = await simulate(['keys.log', ...LIMIT, ...pattern]);
    expect(warnings).toEqual(['1 of 3 requests (33.3%) have a caller that is not an address, such as "bob"; see --by']);
  });
});

describe('times', () => {
  const LIMIT = ['--limit', '5/1m'];
  const DAY = 86_400;
  const YEAR = 365 * DAY;

  /** Two clients take turns each minute. */
  const at = (second: number) =>
    combinedLine({ ms: START_MS + second * 1000, ip: `192.0.2.${Math.abs(Math.floor(second / 60)) % 2}` });

  /** How many requests count, and which lines are left out, when these seconds are a log. */
  async function counted(seconds: readonly number[], ...args: string[]) {
    write('times.log', seconds.map(at).join('\n'));
    const { requests, log } = await simulate(['times.log', ...LIMIT, ...args]);
    return { requests, leftOut: log.leftOutLines, first: log.firstLeftOut?.line };
  }

  const steps = (count: number, step = 1) => Array.from({ length: count }, (_, index) => index * step);

  describe('lines out of order', () => {
    const seconds = [...Array<number>(10).fill(0), ...Array<number>(10).fill(301), 1, 0, 0, 302];

    test('are sorted within the tolerance, and later ones are left out with a warning', async () => {
      expect(await counted(seconds)).toEqual({ requests: 22, leftOut: 2, first: 22 });
      expect(await counted(seconds, '--tolerance', '302s')).toMatchObject({ requests: 24, leftOut: 0 });
      // What comes after a later time: the one and both zeros.
      expect(await counted(seconds, '--tolerance', '0')).toEqual({ requests: 21, leftOut: 3, first: 21 });
    });

    test('are left out right after a pause of the log', async () => {
      const [pause, ...later] = [1000, 990, 980, 1010, 1020, 1030, 1040, 1050, 1060, 1070, 1080];
      expect(await counted([...steps(5), pause!, ...later], '--tolerance', '0')).toEqual({
        requests: 14,
        leftOut: 2,
        first: 7,
      });
    });

    test.each([1, 2])('are counted in the report if they are many: %d', async (count) => {
      write('times.log', [...steps(20, 60), ...Array<number>(count).fill(0)].map(at).join('\n'));
      const { stdout, stderr } = await rollgate(['simulate', 'times.log', ...LIMIT, '--html', 'times.html']);
      const warning = new RegExp(
        `${count} of ${20 + count} lines \\([\\d.]+%\\) were left out because they are more than 5m out of order; ` +
          'the first, line 21 of times\\.log, 2026-03-01 00:00:00; see --tolerance\n',
      );
      expect(stderr).toMatch(new RegExp(`^${warning.source}$`));
      expect(stdout).toMatch(new RegExp(`^Warning: ${warning.source}`, 'm'));
    });

    test('do not appear in the report if they are few', async () => {
      write('times.log', [...steps(1000, 60), 0].map(at).join('\n'));
      const { stdout, stderr } = await rollgate(['simulate', 'times.log', ...LIMIT]);
      expect(stderr).toMatch(/^1 of 1,001 lines were left out because /);
      expect(stdout).not.toContain('Warning');
    });

    test('from standard input: the warning suggests passing files', async () => {
      const { stderr } = await rollgate(['simulate', ...LIMIT], { input: [`${at(1000)}\n${at(0)}\n`.repeat(9)] });
      expect(stderr).toContain('pass the parts of a log as files');
    });
  });

  describe('one wrong date makes nothing else late', () => {
    test.each([
      ['dense', 1],
      ['sparse', DAY],
    ])('in a %s log, wherever it is', async (_, step) => {
      for (const place of [0, 1, 40, 75, 79, 80]) {
        const expected = { requests: 80, leftOut: 1, first: place + 1 };
        expect(await counted(steps(80, step).toSpliced(place, 0, 3 * YEAR))).toEqual(expected);
        expect(await counted(steps(80, step).toSpliced(place, 0, -3 * YEAR))).toEqual(expected);
      }
    });

    test('several wrong dates make nothing else late', async () => {
      const wrong = [3 * YEAR, 3 * YEAR + 1, 3 * YEAR];
      expect(await counted(steps(80).toSpliced(40, 0, ...wrong))).toEqual({ requests: 80, leftOut: 3, first: 41 });
    });
  });

  describe('a log may pause', () => {
    test('for any time', async () => {
      expect(await counted(steps(20, DAY))).toMatchObject({ requests: 20, leftOut: 0 });
      expect(await counted([...steps(20), ...steps(20).map((second) => 10 * YEAR + second)])).toMatchObject({
        requests: 40,
      });
    });

    test('before its last line, and after its first, for less than half a year', async () => {
      expect(await counted([...steps(20), 170 * DAY])).toMatchObject({ requests: 21 });
      expect(await counted([-170 * DAY, ...steps(20)])).toMatchObject({ requests: 21 });
    });
  });

  test('a log that runs backwards keeps what is within the tolerance', async () => {
    const backwards = steps(1000).reverse();
    expect(await counted(backwards)).toMatchObject({ requests: 301, leftOut: 699 });
    expect(await counted(backwards, '--tolerance', '1h')).toMatchObject({ requests: 1000 });
  });

  test('the zone and the fraction of a time count', async () => {
    const lines = ['[01/Mar/2026:02:00:00 +0200]', '[28/Feb/2026:19:00:30 -0500]', '[01/Mar/2026:00:00:59.9 +0000]'];
    write('zones.log', lines.map((time) => `a - - ${time} "GET / HTTP/1.1" 200 -`).join('\n'));
    const { from, to, rejectedRequests } = await simulate(['zones.log', '--limit', '2/1m']);
    expect([from, to, rejectedRequests]).toEqual(['2026-03-01T00:00:00.000Z', '2026-03-01T00:00:59.900Z', 1]);
  });

  test.each([
    '2026-03-01T00:00Z',
    '2026-03-01 00:00',
    '2026-03-01T01:00:00+01',
    '2026-03-01T01:00+01',
    '2026-02-28T19:00:00.0-0500',
  ])('short forms of ISO 8601 are valid: %s', async (time) => {
    write('iso.log', JSON.stringify({ time, ip: 'a' }));
    expect(await simulate(['iso.log', ...LIMIT])).toMatchObject({ from: '2026-03-01T00:00:00.000Z', requests: 1 });
  });

  describe('a window that is short compared with the steps of the times', () => {
    const NOTE = /^The log's times have steps of 1s, which is coarse for a window of 1s or 9s\. /m;

    test('adds a note', async () => {
      write('steps.log', steps(20).map(at).join('\n'));
      const limits = ['--limit', '5/1s', '--limit', '9/9s', '--limit', '10/10s'];
      const { stdout } = await rollgate(['simulate', 'steps.log', ...limits]);
      expect(stdout).toMatch(NOTE);
      expect((await rollgate(['suggest', 'steps.log', '--window', '1s', '--window', '9s'])).stdout).toMatch(NOTE);
      expect((await rollgate(['compare', 'steps.log', '--limit', '5/9s'])).stdout).toContain(
        'coarse for a window of 9s. ',
      );
      expect((await rollgate(['compare', 'steps.log', '--limit', '5/10s'])).stdout).not.toContain('coarse');
      expect((await simulate(['steps.log', ...limits])).log.resolutionMs).toBe(1000);
    });

    test.each([
      [60_000, 60_000],
      [300, 100],
      [7, 1],
      [0.25, 0.01],
    ])('steps of %d ms are detected as %d', async (step, resolutionMs) => {
      const lines = steps(20).map((index) => JSON.stringify({ time: (START_MS + index * step) * 1000, ip: 'a' }));
      write('steps.log', lines.join('\n'));
      expect((await simulate(['steps.log', ...LIMIT])).log.resolutionMs).toBe(resolutionMs);
    });

    test('two lines at full minutes are no proof of steps of a minute', async () => {
      write('few.log', [0, 60].map(at).join('\n'));
      expect((await simulate(['few.log', ...LIMIT])).log.resolutionMs).toBe(1000);
    });
  });

  test('only one line at the start and one at the end of a sparse log can have a wrong date', async () => {
    const gapMs = 200 * DAY * 1000;
    const lines = Array.from({ length: 10 }, (_, index) => JSON.stringify({ time: START_MS - gapMs * index, ip: 'a' }));
    write('sparse.log', lines.reverse().join('\n'));
    const { log, from } = await simulate(['sparse.log', '--limit', '1/1m']);
    expect(log).toMatchObject({ lines: 10, leftOutLines: 2 });
    expect(from).toBe(new Date(START_MS - gapMs * 8).toISOString());
  });
});

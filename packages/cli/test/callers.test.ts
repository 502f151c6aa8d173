import { combinedLine, commonLine, type Hit, START_MS, toLog } from './support/log-lines';
import { rollgate, simulate, write } from './support/rollgate';

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

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { createClientKey, type WebHost, WebLimiter } from '@rollgate/http';
import { randomRuns } from '@rollgate/test-support/effort';
import fc from 'fast-check';
import ipaddr from 'ipaddr.js';
import { createGate, limitedHost } from './support/fake-host.js';

describe('the key of a client', () => {
  const clientKey = createClientKey(56);

  test.each([
    ['203.0.113.7', '203.0.113.7'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['::FFFF:203.0.113.7', '203.0.113.7'],
    ['::ffff:cb00:7107', '203.0.113.7'],
    ['::ffff:1020:3040', '16.32.48.64'],
    ['::FFFF:0102:0304', '1.2.3.4'],
    ['2001:db8:85a3:12ff:5678:8a2e:370:7334', '2001:db8:85a3:1200::/56'],
    ['2001:DB8:85A3:1200::1', '2001:db8:85a3:1200::/56'],
    ['fe80::1%eth0', 'fe80::1%eth0'],
    ['FE80:0:0:0:0:0:0:1%eth0', 'fe80::1%eth0'],
    ['fe80::2%eth0', 'fe80::2%eth0'],
    ['fe80::1', 'fe80::1'],
    ['FE80::1%br-0A1.2_x~', 'fe80::1%br-0A1.2_x~'],
    ['::ffff:192.0.2.1%eth0', '192.0.2.1'],
    ['::ffff:192.0.2.1%br-0a1.2', '192.0.2.1'],
    ['2001:db8::1%br-0a1.2', '2001:db8::/56'],
    ['[64:ff9b::192.0.2.1%wlan-0]:80', '192.0.2.1'],
    ['::ffff:c000:201%eth0', '192.0.2.1'],
    ['[::ffff:192.0.2.1%eth0]:80', '192.0.2.1'],
    ['::192.0.2.1%eth0', '192.0.2.1'],
    ['::ffff:0.0.0.0', '0.0.0.0'],
    ['::ffff:255.255.255.255', '255.255.255.255'],
    ['64:ff9b::203.0.113.7', '203.0.113.7'],
    ['64:ff9b::cb00:7107', '203.0.113.7'],
    ['0064:FF9B::cb00:7108', '203.0.113.8'],
    ['64:ff9b:1::cb00:7107', '64:ff9b:1::/56'],
    ['::203.0.113.7', '203.0.113.7'],
    ['::cb00:7108', '203.0.113.8'],
    ['0:0:0:0:0:0:1.0.0.0', '1.0.0.0'],
    ['::ffff:0:203.0.113.7', '203.0.113.7'],
    ['::FFFF:0:cb00:7108', '203.0.113.8'],
    ['::0.255.255.255', '::/56'],
    ['::1:203.0.113.7', '::/56'],
    ['fd12:3456:789a:1201::1', 'fd12:3456:789a:1200::/56'],
    ['2002:cb00:7107::1', '2002:cb00:7107::/56'],
    ['::1', '::/56'],
    ['::', '::/56'],
  ])('%s has the key %s', (address, key) => {
    expect(clientKey(address)).toBe(key);
    expect(clientKey(address)).toBe(key);
  });

  test.each([
    [64, '2001:db8:85a3:12ff::/64'],
    [128, '2001:db8:85a3:12ff:5678:8a2e:370:7334/128'],
    [1, '::/1'],
  ])('IPv6 is cut to its first %d bits', (prefix, key) => {
    expect(createClientKey(prefix)('2001:db8:85a3:12ff:5678:8a2e:370:7334')).toBe(key);
  });

  test('more addresses than the cache holds still get their keys', () => {
    for (let network = 0; network < 25_000; network++) {
      const group = network.toString(16);
      const expected = network === 0 ? '2001:db8::/56' : `2001:db8:${group}::/56`;
      assert.equal(clientKey(`2001:db8:${group}::1`), expected);
    }
  });

  test.each([
    ['203.0.113.7:1234', '203.0.113.7'],
    ['::ffff:203.0.113.7:5678', '203.0.113.7'],
    ['::FFFF:203.0.113.7:5679', '203.0.113.7'],
    ['[::ffff:203.0.113.7]:5680', '203.0.113.7'],
    ['[::1]:80', '::/56'],
    ['[::203.0.113.7]:80', '203.0.113.7'],
    ['[fe80::1%eth0]:80', 'fe80::1%eth0'],
    ['[2001:db8::1]:443', '2001:db8::/56'],
    ['[2001:db8::1]', '2001:db8::/56'],
    ['not:an:address', 'not:an:address'],
    [':'.repeat(1000), ':'.repeat(64)],
    ['a'.repeat(1000), 'a'.repeat(64)],
    [`::ffff:1.${'2'.repeat(1000)}`, `::ffff:1.${'2'.repeat(55)}`],
    ['::ffff:300.0.2.1', '::ffff:300.0.2.1'],
    ['::ffff:1.2.3', '::ffff:1.2.3'],
    ['::ffff:1.2.3.4.', '::ffff:1.2.3.4.'],
    ['::ffff:01.2.3.4', '::ffff:01.2.3.4'],
    ['[]:80', '[]:80'],
    ['[]', '[]'],
  ])('a port is dropped, and text that is not an address is its own key: %s', (address, key) => {
    expect(clientKey(address)).toBe(key);
  });

  test.each([0, 129, 56.5, '56', undefined])('the prefix %p throws when the function is created', (prefix) => {
    expect(() => createClientKey(prefix as number)).toThrow('ipv6Prefix');
  });

  test('text that is not an address does not keep its header in memory', async () => {
    const script = `
    import { createClientKey } from '@rollgate/http';
    const clientKey = createClientKey(56);
    gc();
    const before = process.memoryUsage().heapUsed;
    for (let header = 0; header < 2000; header++) {
      clientKey(Buffer.alloc(14_000, 'proxy:number:' + header + ', ').toString('latin1').split(', ')[0]);
    }
    gc();
    console.log(process.memoryUsage().heapUsed - before);
  `;
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ['--expose-gc', '--input-type=module', '--eval', script],
      { cwd: `${__dirname}/../../express` }, // A package that depends on http, so that Node finds the built package by name.
    );
    expect(Number(stdout)).toBeLessThan(4e6); // The headers are 28 MB.
  });
});

describe('allowList', () => {
  const window = '1m';
  test.each([
    ['203.0.113.7', '203.0.113.7', true],
    ['203.0.113.7', '203.0.113.8', false],
    ['203.0.113.7', '::ffff:203.0.113.7', true],
    ['203.0.113.7', '::ffff:cb00:7107', true],
    ['203.0.113.7', '203.0.113.7:1234', true],
    ['::ffff:203.0.113.7', '203.0.113.7', true],
    ['10.0.0.0/8', '10.255.255.255', true],
    ['10.0.0.0/8', '11.0.0.0', false],
    ['10.1.2.3/8', '10.0.0.1', true],
    ['10.0.0.0/8', '::ffff:10.1.1.1', true],
    ['::ffff:10.0.0.0/104', '10.1.1.1', true],
    ['::ffff:10.0.0.0/104', '11.1.1.1', false],
    ['::ffff:203.0.113.0/120', '203.0.113.200', true],
    ['0.0.0.0/0', '203.0.113.7', true],
    ['0.0.0.0/0', '2001:db8::1', false],
    ['::/0', '2001:db8::1', true],
    ['::/0', '203.0.113.7', false],
    ['203.0.113.7/32', '203.0.113.6', false],
    ['2001:db8::1', '2001:DB8:0:0::1', true],
    ['2001:db8::1', '2001:db8::2', false],
    ['2001:db8::/32', '2001:db8:ffff::1', true],
    ['2001:db8::/32', '2001:db9::1', false],
    ['2001:db8::/32', '[2001:db8::5]:443', true],
    ['fe80::/10', 'fe80::1%eth0', true],
    ['fe80::/10', 'fe80::1%br-0a1.2', true],
    ['127.0.0.1', '2130706433', false],
    ['8.0.0.1', '010.0.0.1', false],
    ['10.0.0.0/8', 'unknown', false],
  ])('entry %s, address %s, allowed: %p', async (entry, address, isAllowed) => {
    const allowList = ['192.0.2.1', '2001:db8:aaaa::/48', entry];
    const { send, statuses } = limitedHost({ limit: 1, window, allowList });
    const { headers, decision } = await send({ address });
    expect([headers.has('x-ratelimit-limit'), decision === undefined]).toEqual([!isAllowed, isAllowed]);
    expect(await statuses({ address }, { address })).toEqual(isAllowed ? [200, 200] : [429, 429]);
  });

  test('calls no option function for a listed address, and all of them for others', async () => {
    const called: string[] = [];
    const functions = Object.fromEntries(
      Object.entries({ skip: false, key: 'ann', cost: 1, limit: 1 }).map(([name, value]) => [
        name,
        () => {
          called.push(name);
          return value;
        },
      ]),
    );
    const { send } = limitedHost({ ...functions, window, allowList: ['127.0.0.1'] });
    await send({ address: '127.0.0.1' });
    expect(called).toEqual([]);
    await send({ address: '127.0.0.2' });
    expect(called).toEqual(['skip', 'key', 'cost', 'limit']);
  });

  test.each([[[]], [false]])('%p exempts no request', async (allowList) => {
    expect(await limitedHost({ limit: 1, window, allowList }).statuses({}, {})).toEqual([200, 429]);
  });

  test.each([
    '',
    'localhost',
    '10',
    '10/8',
    '192.168/16',
    '10.0.0',
    '010.0.0.1',
    '256.0.0.1',
    '10.0.0.0/33',
    '10.0.0.0/-1',
    '10.0.0.0/',
    '10.0.0.0/8/8',
    '10.0.0.0/255.0.0.0',
    '2001:db8::/129',
    '2001:db8::1::2',
    ' 10.0.0.1',
    7,
    null,
  ])('%p is neither an address nor a network', (entry) => {
    expect(() => createGate({ limit: 1, window, allowList: ['10.0.0.1', entry] })).toThrow(
      "Expected `allowList[1]` to be an IP address or a network such as '10.0.0.0/8'",
    );
  });
});

describe('the option address', () => {
  const addressOf = (request: { headers: Headers }) => request.headers.get('x-client') ?? undefined;
  const ownOptions = ['address'];
  const WEB: Omit<WebHost<Request>, 'getClientAddress'> = {
    name: 'rateLimit',
    ownOptions,
    resetUnit: 'delta',
    getRequest: (request) => request,
    getRequestHeader: (request, name) => request.headers.get(name),
    isDisconnected: () => false,
  };
  const byConnection = { getClientAddress: () => '192.0.2.1' };
  const limitWeb = (host: WebHost<Request>, options: object) =>
    new WebLimiter(host, { limit: 1, window: '1m', ...options });
  const limitGate = (options: object) => createGate({ limit: 1, window: '1m', ...options }, { ownOptions });

  /** Each checks a request and returns whether it is allowed. */
  const LIMITERS: [host: string, create: (options: object) => (request: Request) => Promise<boolean>][] = [
    [
      'a gate',
      (options) => {
        const gate = limitGate(options);
        return async ({ headers }) => (await gate.judge({ headers, address: '192.0.2.1' })).kind === 'allowed';
      },
    ],
    [
      'a host of the Fetch standard',
      (options) => {
        const limiter = limitWeb({ ...WEB, ...byConnection }, options);
        return async (request) => (await limiter.check(request)).allowed;
      },
    ],
    [
      'a host without addresses',
      (options) => {
        const limiter = limitWeb(WEB, options);
        return async (request) => (await limiter.check(request)).allowed;
      },
    ],
  ];

  describe.each(LIMITERS)('of %s', (_, create) => {
    test('replaces the address that the host returns', async () => {
      const isAllowed = create({ address: addressOf });
      const allowed: boolean[] = [];
      for (const client of ['198.51.100.7', '198.51.100.7', '198.51.100.8']) {
        allowed.push(await isAllowed(new Request('http://localhost/', { headers: { 'X-Client': client } })));
      }
      expect(allowed).toEqual([true, false, true]);
    });

    test('must be a function', () => {
      expect(() => create({ address: 'cloudflare' })).toThrow('Expected `address` to be a function');
    });
  });

  test('is only required if the host has no address', () => {
    expect(() => limitWeb(WEB, {})).toThrow('Expected `address` or `key`, got neither');
    expect(() => limitWeb(WEB, { key: () => 'all', allowList: ['192.0.2.1'] })).toThrow('Expected `address` or `key`');
    limitWeb(WEB, { key: () => 'all' });
    limitWeb({ ...WEB, ...byConnection }, {});
  });
});

describe('notations of addresses', () => {
  const GROUP = fc.oneof(
    fc.constantFrom('0', '0000', 'ffff', 'FE80', 'febf', '64', 'ff9b', '1', '00ab', 'x', '12345', ''),
    fc.nat(0xffff).map((group) => group.toString(16)),
  );
  const DOTTED = fc.oneof(fc.ipV4(), fc.constantFrom('0.0.0.0', '255.255.255.255', '1.2.3.256', '1.2.3'));
  const ZONE = fc.constantFrom('', '', '', '%eth0', '%1', '%', '%a%b');

  /** IPv6 addresses in all notations, and texts that are nearly addresses. */
  const TEXT = fc.oneof(
    fc.ipV6(),
    fc
      .tuple(fc.array(GROUP, { maxLength: 9 }), fc.array(GROUP, { maxLength: 5 }), fc.constantFrom('::', ':'), DOTTED)
      .chain(([start, end, separator, dotted]) =>
        fc.constantFrom(
          start.join(':'),
          `${start.join(':')}${separator}${end.join(':')}`,
          `${start.join(':')}${separator}${dotted}`,
          `::ffff:${dotted}`,
          `64:ff9b::${dotted}`,
          `::ffff:0:${dotted}`,
          `0:0:0:0:0:0:${dotted}`,
        ),
      ),
    fc.string({ unit: fc.constantFrom(...'0:1fF.%/[]@#\n\t ') }),
  );

  /** The key by ipaddr.js, or `undefined` for text that is not an address. */
  function expectedKey(text: string, prefix: number): string | undefined {
    if (!text.includes(':') || !ipaddr.isValid(text)) return undefined;
    const parsed = ipaddr.process(text);
    if (parsed.kind() === 'ipv4') return parsed.toString();
    if (parsed.range() === 'linkLocal') return parsed.toString();
    const bytes = parsed.toByteArray();
    const isCompatible = bytes.slice(0, 12).every((byte) => byte === 0) && bytes[12] !== 0;
    const isTranslated = parsed.range() === 'rfc6145' || (parsed.range() === 'rfc6052' && bytes[5] === 0);
    if (isCompatible || isTranslated) return new ipaddr.IPv4(bytes.slice(-4)).toString();
    return `${ipaddr.IPv6.networkAddressFromCIDR(`${text.split('%')[0]}/${prefix}`)}/${prefix}`;
  }

  test('keys of IPv6 addresses in any notation agree with another library', () => {
    fc.assert(
      fc.property(TEXT, ZONE, fc.integer({ min: 1, max: 128 }), (address, zone, prefix) => {
        const text = address + zone;
        // These are cut without parsing: brackets, ports, and addresses of a socket for both families.
        fc.pre(!/^\[|^(?:::ffff:)?[\d.]+:\d+$|^::ffff:[^:]*\./i.test(text));
        fc.pre(!/^::[\d.]+$/.test(address)); // The other library mistakes `::1.2.3.4` for `::ffff:1.2.3.4`.
        assert.equal(createClientKey(prefix)(text), expectedKey(text, prefix) ?? text.slice(0, 64));
      }),
      randomRuns(2000, 200_000),
    );
  });
});

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { createClientKey } from '@rollgate/http';

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

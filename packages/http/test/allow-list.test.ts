import { createGate, limitedHost } from './support/fake-host.js';

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

import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { MemoryStore, RateLimiter, RollingCounter, rollingWindow } from '@rollgate/core';

const limits = rollingWindow({ limit: 1, window: '1h' });
const hashOf = (key: string) => `%#${createHash('sha256').update(key, 'utf16le').digest('base64url')}`;

test('10,000 keys of 14 kB fit into a heap of 64 MB', async () => {
  const script = `
    import { RateLimiter, rollingWindow } from '@rollgate/core';
    const limiter = new RateLimiter({ limits: rollingWindow({ limit: 1, window: '1h' }) });
    let allowed = 0;
    for (let key = 0; key < 10_000; key++) {
      const long = Buffer.alloc(14_000, 'k' + key).toString('latin1');
      if (limiter.decide(long).allowed) allowed += 1;
    }
    console.log(allowed);
  `;
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--max-old-space-size=64', '--input-type=module', '--eval', script],
    { cwd: `${__dirname}/../../express` }, // A package that depends on core, so that its built form is found by name.
  );
  expect(stdout).toBe('10000\n');
});

test('the store keeps a key of up to 200 code units as it is, and a longer one as a hash', async () => {
  const store = new MemoryStore();
  const limiter = new RateLimiter({ limits, store });
  const kept = ['x'.repeat(200), '%# not a hash', '%'.repeat(45), '\ud800'.repeat(200)];
  const hashed = [
    'x'.repeat(201),
    'y'.repeat(1e6),
    '\ud800'.repeat(201),
    '\udfff'.repeat(201),
    hashOf('x'.repeat(201)),
  ];
  for (const key of [...kept, ...hashed]) expect((await limiter.check(key)).allowed).toBe(true);
  expect(store.toJSON().map(({ key }) => key)).toEqual([...kept, ...hashed.map(hashOf)]);
  for (const key of [...kept, ...hashed]) expect((await limiter.check(key)).allowed).toBe(false);
});

test('a long key is peeked at, refunded and reset like any other', async () => {
  const store = new MemoryStore();
  const limiter = new RateLimiter({ limits: { one: limits, two: limits }, store });
  const key = { one: 'x'.repeat(300), two: 'short' };
  const decision = await limiter.check(key);
  expect((await limiter.peek(key)).violated).toEqual(['one', 'two']);
  await limiter.refund(decision);
  expect(store.size).toBe(0);
  await limiter.check(key);
  expect(store.toJSON().map((entry) => entry.key)).toEqual([hashOf(key.one), 'short']);
  await limiter.reset(key);
  expect(store.size).toBe(0);
});

test('the store counts a long subject of a RollingCounter, and keeps it as a hash', async () => {
  const store = new MemoryStore();
  const counter = new RollingCounter({ store });
  const subject = 'x'.repeat(300);
  await counter.add(subject);
  expect(await counter.addCount(subject, '1m')).toBe(2);
  expect(store.toJSON()[0]?.key).toBe(hashOf(subject));
});

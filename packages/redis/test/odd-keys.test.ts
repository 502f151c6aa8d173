import { MemoryStore, RateLimiter, rollingWindow } from '@rollgate/core';
import { RedisStore } from '@rollgate/redis';
import { anyCharacter } from '@rollgate/test-support/any-character';
import { randomRuns } from '@rollgate/test-support/effort';
import fc from 'fast-check';
import { freshPrefix, SomeRedis } from './support/some-redis.js';

const redis = SomeRedis.forThisFile();
const limits = rollingWindow({ limit: 1, window: '1m' });

const ODD_KEYS = [
  ['braces', '{ann}'],
  ['an opening brace', '{'],
  ['a closing brace', '}'],
  ['a pair with nothing in it', '{}ann'],
  ['an asterisk', '*'],
  ['a pattern', 'a[n]?*'],
  ['NUL', 'a\0b'],
  ['newlines', 'a\r\nb'],
  ['a lone surrogate', '\ud800'],
  ['the other half', '\udc00'],
  ['halves in the wrong order', '\udc00\ud800'],
  ['emoji', '👩‍👩‍👧'],
  ['a megabyte', 'x'.repeat(1 << 20)],
  ['a megabyte of lone surrogates', '\ud800'.repeat(1 << 19)],
  ['__proto__', '__proto__'],
  ['constructor', 'constructor'],
  ['percent', '%'],
  ['what looks escaped', '%7B'],
  ['what looks hashed', '%#47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU'],
  ['like an internal name', 'rollgate:{ann}:default'],
] as const;

test.each(ODD_KEYS)('is a key without special meaning: %s', async (_, key) => {
  const prefix = freshPrefix();
  const limiter = redis.createLimiter(limits, {}, { prefix });
  for (const other of [`a${key}`, `${key}z`]) expect((await limiter.check(other)).allowed).toBe(true);
  expect((await limiter.check(key)).allowed).toBe(true);
  expect((await limiter.check(key)).allowed).toBe(false);
  for (const name of await redis.keysOf(prefix)) expect(name.length).toBeLessThan(prefix.length + 300);
  await limiter.reset(key);
  expect((await limiter.check(key)).allowed).toBe(true);
  for (const other of [`a${key}`, `${key}z`]) expect((await limiter.check(other)).allowed).toBe(false);
});

test('special keys have separate states', async () => {
  const limiter = redis.createLimiter(limits);
  const all = ODD_KEYS.map(([, key]) => key);
  const first = await Promise.all(all.map((key) => limiter.check(key)));
  expect(first.every(({ allowed }) => allowed)).toBe(true);
  const second = await Promise.all(all.map((key) => limiter.check(key)));
  expect(second.some(({ allowed }) => allowed)).toBe(false);
});

test('a reset of `*` affects only the key `*`', async () => {
  const prefix = freshPrefix();
  const limiter = redis.createLimiter(limits, {}, { prefix });
  for (const key of ['*', 'ann', '**']) await limiter.check(key);
  const before = await redis.keysOf(prefix);
  await limiter.reset('*');
  const after = await redis.keysOf(prefix);
  expect(before.filter((key) => !after.includes(key))).toEqual([`${prefix}:{*}:default`]);
  expect((await limiter.check('*')).allowed).toBe(true);
  expect((await limiter.check('ann')).allowed).toBe(false);
});

test.each(['*', '{', '}', '{}', '{a}', '%', ':', 'a:{b}:c', '\0', '\ud800', 'x'.repeat(10_000)])(
  'is only a prefix: %j',
  async (odd) => {
    const end = freshPrefix();
    const [one, other] = [odd + end, `${odd}.${end}`].map((prefix) =>
      redis.createLimiter({ a: limits, b: limits }, {}, { prefix }),
    );
    expect((await one!.check('ann')).allowed).toBe(true);
    expect((await one!.check('ann')).allowed).toBe(false);
    expect((await one!.check({ a: 'bob', b: 'ann' })).violated).toEqual(['b']);
    expect((await other!.check('ann')).allowed).toBe(true);
    await one!.reset('ann');
    expect((await one!.check('ann')).allowed).toBe(true);
    expect((await other!.check('ann')).allowed).toBe(false);
  },
);

/** Texts with a meaning in Redis, in names of keys or in the store's encoding, and parts of them. */
const PIECES = [
  '',
  '{',
  '}',
  '%',
  '#',
  'u',
  '7B',
  '%7B',
  'D800',
  '\ud800',
  '\udc00',
  '😀',
  ':',
  '*',
  '\0',
  '\n',
  '__proto__',
];
const nasty = fc.oneof(
  fc.array(fc.constantFrom(...PIECES), { maxLength: 4 }).map((pieces) => pieces.join('')),
  fc.array(fc.constantFrom(...PIECES), { maxLength: 2 }).map((pieces) => pieces.join('') + 'x'.repeat(200)),
  fc.string({ unit: anyCharacter, maxLength: 4 }),
  fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 4 }).map((codes) => String.fromCharCode(...codes)),
);

const nastyKey = nasty.filter((key) => key !== '');

test('prefixes, names and keys have separate states, as in memory', async () => {
  const check = fc.record({ prefix: nasty, name: fc.constantFrom('a', 'b', 'default'), key: nastyKey });
  let run = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(check, { maxLength: 100 }), async (checks) => {
      run += 1;
      const ofRun = freshPrefix();
      const memory = new MemoryStore();
      const store = new RedisStore({ client: redis.client });
      for (const { prefix, name, key } of checks) {
        const make = (store: RedisStore | MemoryStore) =>
          new RateLimiter({ limits: { [name]: limits }, store, prefix: prefix + ofRun, timeout: '30s' });
        const [actual, expected] = await Promise.all([make(store).check(key), make(memory).check(key)]);
        expect(actual.allowed).toBe(expected.allowed);
      }
    }),
    randomRuns(30, 1000),
  );
  expect(run).toBeGreaterThan(0);
});

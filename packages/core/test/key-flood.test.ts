import { type Limits, MemoryStore, RateLimiter, RollingCounter, rollingWindow } from '@rollgate/core';

const clock = { now: () => 1_000_000 };
beforeEach(() => {
  jest.spyOn(process, 'emitWarning').mockReturnValue();
});
afterEach(() => jest.restoreAllMocks());

const global = rollingWindow({ limit: 1000, window: '1s' });
const ip = rollingWindow({ limit: 5, window: '1h' });
const user = rollingWindow({ limit: 20, window: '1d' });

/** How many of so many requests are allowed, each of them with fresh keys for all limits but `global`. */
function allowedOf(requests: number, limits: Readonly<Record<string, typeof ip>>, store: MemoryStore): number {
  const limiter = new RateLimiter({ limits, store });
  let allowed = 0;
  for (let request = 0; request < requests; request++) {
    const keys = Object.keys(limits).map((name) => [name, name === 'global' ? 'all' : `${name} ${request}`]);
    if ((limiter.decide(Object.fromEntries(keys)) as { allowed: boolean }).allowed) allowed += 1;
  }
  return allowed;
}

describe('a flood of fresh keys never gets more than a limit on all of them allows', () => {
  const orders = [
    { global, ip },
    { ip, global },
    { global, ip, user },
    { ip, global, user },
    { ip, user, global },
  ];
  for (const limits of orders) {
    for (const maxKeys of [1, 100]) {
      test(`in the order ${Object.keys(limits).join(', ')}, with ${maxKeys} keys`, () => {
        const store = new MemoryStore({ clock, maxKeys });
        expect(allowedOf(3000, limits, store)).toBe(1000);
        expect(store.size).toBeLessThanOrEqual(Math.max(maxKeys, Object.keys(limits).length));
      });
    }
  }
});

test('a check that records a rejected attempt evicts no entry of a limit that rejects it', () => {
  const limits = { global, ip: rollingWindow({ limit: 5, window: '1h', countRejected: true }) };
  expect(allowedOf(2000, limits, new MemoryStore({ clock, maxKeys: 1 }))).toBe(1000);
});

describe('a limit with no more than its share of `maxKeys`', () => {
  const limiterOn = <Given extends Limits>(store: MemoryStore, prefix: string, limits: Given) =>
    new RateLimiter({ limits, store, prefix });

  /** Records in so many fresh keys. */
  const flood = (limiter: RateLimiter, count: number) => {
    for (let key = 0; key < count; key++) limiter.decide(`flood ${key}`);
  };

  test('keeps its keys while another limit is flooded', async () => {
    const store = new MemoryStore({ clock, maxKeys: 100 });
    const logins = limiterOn(store, 'logins', rollingWindow({ limit: 1, window: '1s' }));
    for (let key = 0; key < 50; key++) logins.decide(`ann ${key}`);
    flood(limiterOn(store, 'other', user), 10_000);
    for (let key = 0; key < 50; key++) expect((await logins.check(`ann ${key}`)).allowed).toBe(false);
    expect(store.size).toBe(100);
  });

  test('keeps its keys while subjects of a RollingCounter are flooded', async () => {
    const store = new MemoryStore({ clock, maxKeys: 100 });
    const logins = limiterOn(store, 'logins', rollingWindow({ limit: 1, window: '1s' }));
    await logins.check('ann');
    const counter = new RollingCounter({ store });
    for (let subject = 0; subject < 1000; subject++) await counter.add(`subject ${subject}`);
    expect((await logins.check('ann')).allowed).toBe(false);
  });

  test('keeps its keys next to any number of flooded limits', async () => {
    const store = new MemoryStore({ clock, maxKeys: 100 });
    const logins = limiterOn(store, 'logins', rollingWindow({ limit: 1, window: '1s' }));
    for (let key = 0; key < 10; key++) logins.decide(`ann ${key}`);
    for (let other = 0; other < 9; other++) flood(limiterOn(store, `other ${other}`, user), 200);
    for (let key = 0; key < 10; key++) expect((await logins.check(`ann ${key}`)).allowed).toBe(false);
    expect(store.size).toBe(100);
  });
});

test('a limit on its own may fill the whole store', () => {
  const store = new MemoryStore({ clock, maxKeys: 1000 });
  const [busy, quiet] = ['busy', 'quiet'].map((prefix) => new RateLimiter({ limits: user, store, prefix }));
  quiet!.decide('ann');
  for (let key = 0; key < 999; key++) busy!.decide(`key ${key}`);
  for (let key = 0; key < 999; key++) expect(busy!.decide(`key ${key}`)).toMatchObject({ remaining: 18 });
});

test('a new key of a full store takes about as long with 20,000 limits as with 20', () => {
  /** Fills a store. Returns a function that measures a block of checks with new keys. */
  const fill = (spaces: number) => {
    const store = new MemoryStore({ clock, maxKeys: 20_000 });
    const check = (namespace: number, key: string) =>
      store.check({ prefix: '', rules: [{ name: 'default', limit: ip, namespace: `namespace ${namespace}` }] }, key, 1);
    for (let key = 0; key < 20_000; key++) check(key % spaces, `key ${key}`);
    let next = spaces;
    return () => {
      const startMs = performance.now();
      for (let key = 0; key < 20; key++) check(next++, 'new');
      return performance.now() - startMs;
    };
  };
  const [many, few] = [fill(20_000), fill(20)];
  // In turns, so that a busy machine slows down both. It interrupts few of so short blocks.
  const turns = Array.from({ length: 20 }, () => [many(), few()] as const);
  const fastest = (which: 0 | 1) => Math.min(...turns.map((turn) => turn[which]));
  expect(fastest(0) / fastest(1)).toBeLessThan(30);
});

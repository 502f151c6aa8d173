import { type Limits, MemoryStore, RateLimiter, RollingCounter, rollingWindow } from '@rollgate/core';

beforeEach(() => {
  jest.spyOn(process, 'emitWarning').mockReturnValue();
});

afterEach(() => jest.restoreAllMocks());

describe('keys of a full store', () => {
  /** A store whose clock the test sets, and limiters on it. */
  function createFullStore(maxKeys: number) {
    const time = { ms: 1e12 };
    const store = new MemoryStore({ clock: { now: () => time.ms }, maxKeys });
    const limiterOn = <Given extends Limits>(limits: Given, prefix = '') => new RateLimiter({ limits, store, prefix });
    return { time, store, limiterOn };
  }

  const hourly = rollingWindow({ limit: 1, window: '1h' });

  /** How often the store calls the limit for one new key, after each key of a full store has been hit again. */
  function callsForNewKey(maxKeys: number): number {
    const { time, store } = createFullStore(maxKeys);
    let calls = 0;
    const limit = new Proxy(rollingWindow({ limit: 10, window: '1h' }), {
      get(target, name) {
        const value: unknown = Reflect.get(target, name);
        if (typeof value !== 'function') return value;
        return (...args: unknown[]) => {
          calls += 1;
          return value.apply(target, args) as unknown;
        };
      },
    });
    const check = (key: string) => {
      time.ms += 1;
      store.check({ prefix: '', rules: [{ name: 'default', limit, namespace: 'default' }] }, key, 1);
    };
    for (let round = 0; round < 2; round++) {
      for (let key = 0; key < maxKeys; key++) check(`key ${key}`);
    }
    calls = 0;
    check('new');
    return calls;
  }

  test('a new key takes as much work in a large store as in a small one, after all keys were hit again', () => {
    expect(callsForNewKey(10_000)).toBe(callsForNewKey(100));
  });

  test('refunds never go through all keys', () => {
    const { limiterOn } = createFullStore(10_000);
    const limiter = limiterOn(hourly);
    for (let key = 0; key < 1000; key++) limiter.decide(`key ${key}`);
    const iterations = jest.spyOn(Map.prototype, Symbol.iterator);
    for (let key = 0; key < 3000; key++) {
      const decision = limiter.decide(`refunded ${key}`) as Awaited<ReturnType<typeof limiter.check>>;
      limiter.refund(decision);
    }
    expect(iterations).not.toHaveBeenCalled();
  });

  test('a refunded key leaves no trace in the order of expiry', () => {
    const { time, store, limiterOn } = createFullStore(3);
    const limiter = limiterOn(hourly);
    for (const key of ['a', 'b', 'c']) {
      time.ms += 1;
      limiter.decide(key);
    }
    const decision = limiter.decide('d') as Awaited<ReturnType<typeof limiter.check>>;
    limiter.refund(decision);
    limiter.decide('e');
    expect(store.toJSON().map(({ key }) => key)).toEqual(['b', 'c', 'e']);
  });

  test('a key that only a charge has recorded in is evicted in its turn', async () => {
    const { time, store, limiterOn } = createFullStore(2);
    const limiter = limiterOn(hourly);
    await limiter.charge('charged');
    for (const key of ['a', 'b']) {
      time.ms += 1;
      await limiter.check(key);
    }
    expect(store.toJSON().map(({ key }) => key)).toEqual(['a', 'b']);
  });

  test('a full store keeps limiting after its clock was wrong for a while', () => {
    const { time, store, limiterOn } = createFullStore(100);
    const limiter = limiterOn(hourly);
    time.ms += 365 * 86_400_000;
    for (let key = 0; key < 100; key++) limiter.decide(`wrong ${key}`);
    time.ms -= 365 * 86_400_000;
    let allowed = 0;
    for (let round = 0; round < 50; round++) {
      time.ms += 1000;
      for (const key of ['x', 'y', 'z']) allowed += Number((limiter.decide(key) as { allowed: boolean }).allowed);
    }
    expect(allowed).toBe(3);
    expect(store.size).toBe(100);
  });

  test('a small clock step back does not change which key is evicted', () => {
    const { time, store, limiterOn } = createFullStore(2);
    const limiter = limiterOn(hourly);
    for (const [key, passedMs] of [
      ['a', 1000],
      ['b', -600_000],
      ['c', 0],
    ] as const) {
      limiter.decide(key);
      time.ms += passedMs;
    }
    expect(store.toJSON().map(({ key }) => key)).toEqual(['b', 'c']);
  });

  test('new keys drop expired keys of a short window while those of a long one have their grace', () => {
    const { time, store, limiterOn } = createFullStore(100_000);
    const long = limiterOn(rollingWindow({ limit: 1, window: '2m' }), 'long');
    const short = limiterOn(rollingWindow({ limit: 1, window: '1s' }), 'short');
    for (let second = 0; second < 175; second++) {
      long.decide(`key ${second}`);
      for (let key = 0; key < 20; key++) {
        time.ms += 50;
        short.decide(`key ${second} ${key}`);
      }
    }
    // Twenty per second, for their window and as long a grace.
    expect(store.size).toBeLessThan(175 + 50);
  });

  test('the new keys of one check count toward `maxKeys`', () => {
    const { store, limiterOn } = createFullStore(10);
    const single = limiterOn(hourly, 'single');
    for (let key = 0; key < 9; key++) single.decide(`key ${key}`);
    const names = Array.from({ length: 8 }, (_, index) => `limit${index}`);
    const several = limiterOn(Object.fromEntries(names.map((name) => [name, hourly])));
    for (const key of ['x', 'y']) {
      several.decide(key);
      expect(store.size).toBe(10);
      expect(several.decide(key)).toMatchObject({ violated: names });
    }
  });

  test('a full store evicts a key whose window has become shorter before one with a longer window', () => {
    const { store, limiterOn } = createFullStore(2);
    const [hour, minute, second] = (['1h', '1m', '1s'] as const).map((window) =>
      limiterOn(rollingWindow({ limit: 2, window })),
    );
    hour!.decide('ann');
    minute!.decide('bob');
    second!.decide('ann');
    minute!.decide('carl');
    expect(store.toJSON().map(({ key }) => key)).toEqual(['bob', 'carl']);
  });

  test('expired keys get the grace of a longer window as soon as a limit with one records', () => {
    const { time, store, limiterOn } = createFullStore(100);
    const [short, long] = (['1s', '1m'] as const).map((window) => limiterOn(rollingWindow({ limit: 1, window })));
    for (const key of ['ann', 'bob']) short!.decide(key);
    time.ms += 1500;
    long!.decide('bob');
    time.ms += 1000;
    limiterOn(hourly, 'other').decide('carl');
    expect(store.toJSON().map(({ key }) => key)).toEqual(['ann', 'bob', 'carl']);
  });

  test('after all keys were hit again, a new key evicts the first to expire of those that the store compares', () => {
    const { time, store, limiterOn } = createFullStore(20);
    const limiter = limiterOn(rollingWindow({ limit: 2, window: '1h' }));
    for (let hit = 0; hit < 2; hit++) {
      for (let key = 0; key < 20; key++) {
        time.ms += 1;
        limiter.decide(`key ${key}`);
      }
    }
    limiter.decide('new');
    expect(store.toJSON().map(({ key }) => key)).not.toContain('key 0');
  });

  describe('a new limit gets room from the limit with the most keys', () => {
    const keysOf = (store: MemoryStore) => store.toJSON().map(({ key }) => key);

    test('although another one is older', () => {
      const { store, limiterOn } = createFullStore(4);
      limiterOn(hourly, 'small').decide('only');
      for (const key of ['a', 'b', 'c']) limiterOn(hourly, 'large').decide(key);
      limiterOn(hourly, 'new').decide('new');
      expect(keysOf(store)).toEqual(['only', 'b', 'c', 'new']);
    });

    test('although another one had as many', async () => {
      const { store, limiterOn } = createFullStore(4);
      const shrunk = limiterOn(hourly, 'shrunk');
      for (const key of ['only', 'x', 'y']) shrunk.decide(key);
      for (const key of ['x', 'y']) await shrunk.reset(key);
      for (const key of ['a', 'b', 'c']) limiterOn(hourly, 'large').decide(key);
      limiterOn(hourly, 'new').decide('new');
      expect(keysOf(store)).toEqual(['only', 'b', 'c', 'new']);
    });
  });

  test('a key that its own check did not evict still expires', () => {
    const { time, store, limiterOn } = createFullStore(2);
    const kept = rollingWindow({ limit: 9, window: '1h' });
    limiterOn({ kept }).decide('ann');
    limiterOn(hourly, 'other').decide('bob');
    limiterOn({ kept, hourly }).decide('ann');
    expect(store.toJSON().map(({ key }) => key)).toEqual(['ann', 'ann']);
    time.ms += 2 * 3_600_000;
    limiterOn(hourly, 'other').decide('carl');
    expect(store.toJSON().map(({ key }) => key)).toEqual(['carl']);
  });
});

describe('a flood of keys', () => {
  const clock = { now: () => 1_000_000 };

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
        store.check(
          { prefix: '', rules: [{ name: 'default', limit: ip, namespace: `namespace ${namespace}` }] },
          key,
          1,
        );
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
});

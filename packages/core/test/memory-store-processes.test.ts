import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** Runs a module in its own process, with the built form of the package. */
const runBuilt = (script: string, ...flags: string[]) =>
  promisify(execFile)(process.execPath, [...flags, '--input-type=module', '--eval', script], {
    cwd: `${__dirname}/../../express`, // A package that depends on core, so that its built form is found by name.
    timeout: 100_000,
  });

test('a log that has rolled for a long time takes no more memory than a new one', async () => {
  // In its own process, which can collect garbage before it measures.
  const { stdout } = await runBuilt(
    `
    import { MemoryStore, RateLimiter, rollingWindow } from '@rollgate/core';
    let now = 0;
    const store = new MemoryStore({ clock: { now: () => now } });
    const limiter = new RateLimiter({ limits: rollingWindow({ limit: 10, window: 10 }), store });
    const roll = (hits) => {
      for (let hit = 0; hit < hits; hit++) {
        now += 1;
        limiter.decide('ann');
      }
      gc();
      const { heapUsed, arrayBuffers } = process.memoryUsage();
      return heapUsed + arrayBuffers;
    };
    const young = roll(10_000);
    console.log(store.toJSON()[0].state.hits.length, roll(300_000) - young);
    `,
    '--expose-gc',
  );
  const [hits, grown] = stdout.split(' ').map(Number);
  expect(hits).toBe(10);
  expect(grown).toBeLessThan(1e6); // The times alone would be 2.4 MB.
});

/** The files for Node, and for other platforms. */
const BUILDS = { node: '@rollgate/core', bundles: join(__dirname, '../dist/index.mjs') };

test.each(Object.entries(BUILDS))(
  'the idle sweep of the build for %s empties an unused store, keeps no process alive, and no store from collection',
  async (_, entry) => {
    // Only the end of a separate process shows that nothing keeps it alive.
    const script = `
    import { MemoryStore, RateLimiter, rollingWindow } from '${entry}';
    const hourly = rollingWindow({ limit: 1, window: '1h' });
    function use() {
      const store = new MemoryStore({ clock: { now: () => 0 } });
      new RateLimiter({ limits: hourly, store }).decide('ann');
      return new WeakRef(store);
    }
    const unused = Array.from({ length: 50 }, use);
    const store = new MemoryStore();
    const limiter = new RateLimiter({ limits: rollingWindow({ limit: 1, window: 1 }), store });
    for (let key = 0; key < 20000; key++) limiter.decide(String(key));
    const forever = new RateLimiter({ limits: hourly });
    forever.decide('ann');
    const poll = setInterval(() => {
      if (store.size > 0) return;
      clearInterval(poll);
      gc();
      console.log('empty', unused.filter((one) => one.deref() !== undefined).length);
    }, 10);
  `;
    const { stdout } = await runBuilt(script, '--expose-gc');
    expect(stdout).toBe('empty 0\n');
  },
);

test('a platform without `WeakRef` has stores, too', async () => {
  const script = `
    delete globalThis.WeakRef;
    const { RateLimiter, rollingWindow } = await import('@rollgate/core');
    const limiter = new RateLimiter({ limits: rollingWindow({ limit: 1, window: '1h' }) });
    console.log((await limiter.check('ann')).allowed, (await limiter.check('ann')).allowed);
  `;
  expect((await runBuilt(script)).stdout).toBe('true false\n');
});

describe('the memory of a store, in its own process, which can collect garbage before it measures', () => {
  /** Runs `script`, which can measure the bytes in use. Returns the numbers that it prints. */
  const measure = async (script: string) => {
    const { stdout } = await runBuilt(
      `
      import { fixedWindow, MemoryStore, RateLimiter, rollingWindow } from '@rollgate/core';
      let now = 0;
      const store = new MemoryStore({ clock: { now: () => now } });
      const usedBytes = () => {
        // The memory of a buffer is counted until the collection after the one that found it unused.
        for (let time = 0; time < 3; time++) gc();
        const { heapUsed, arrayBuffers } = process.memoryUsage();
        return heapUsed + arrayBuffers;
      };
      ${script}
      `,
      '--expose-gc',
    );
    return stdout.trim().split(' ').map(Number);
  };

  test('shrinks with the number of keys and serves other sizes', async () => {
    const [first, last, empty] = await measure(`
      const limiterOf = (limit) => new RateLimiter({ limits: rollingWindow({ limit, window: '1m' }), store });
      const fill = (limit) => {
        const limiter = limiterOf(limit);
        for (let hit = 0; hit < limit; hit++) for (let key = 0; key < 3000; key++) limiter.decide('user ' + key);
        return usedBytes();
      };
      const empty = async (limit) => {
        const limiter = limiterOf(limit);
        for (let key = 0; key < 3000; key++) await limiter.reset('user ' + key);
      };
      const first = fill(100);
      for (const limit of [100, 90, 80, 70, 30, 20, 10, 5]) {
        fill(limit);
        await empty(limit);
      }
      const last = fill(100);
      await empty(100);
      console.log(first, last, usedBytes());
    `);
    expect(last! - first!).toBeLessThan(1e6); // 3,000 keys with 100 hits take 3 MB.
    expect(first! - empty!).toBeGreaterThan(1e6);
  });

  test('frees the logs of many limits', async () => {
    const [grown] = await measure(`
      const young = usedBytes();
      const limits = rollingWindow({ limit: 10_000, window: '1h' });
      const limiters = Array.from({ length: 100 }, (_, index) => new RateLimiter({ limits, store, prefix: 'app ' + index }));
      for (const limiter of limiters) {
        for (let hit = 0; hit < 10_000; hit++) limiter.decide('ann');
        await limiter.reset('ann');
      }
      console.log(usedBytes() - young, limiters.length);
    `);
    expect(grown).toBeLessThan(2e6); // 100 logs with 10,000 hits take 8 MB.
  });

  test('gives no log much more room than its limit needs', async () => {
    const [grown] = await measure(`
      const limiter = new RateLimiter({ limits: rollingWindow({ limit: 66, window: '1h' }), store });
      const young = usedBytes();
      for (let hit = 0; hit < 66; hit++) for (let key = 0; key < 10_000; key++) limiter.decide('user ' + key);
      console.log(usedBytes() - young);
    `);
    expect(grown).toBeLessThan(9e6); // A ring of 128 hits per key takes 11 MB.
  });

  test('does not grow with the number of resets', async () => {
    const [grown] = await measure(`
      const limiter = new RateLimiter({ limits: fixedWindow({ limit: 5, window: '1h' }), store });
      limiter.decide('another');
      const churn = async (times) => {
        for (let time = 0; time < times; time++) {
          limiter.decide('ann');
          await limiter.reset('ann');
        }
        return usedBytes();
      };
      const young = await churn(10_000);
      console.log((await churn(100_000)) - young);
    `);
    expect(grown).toBeLessThan(1e6);
  });
});

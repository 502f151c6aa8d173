import { concurrency, manualClock, RateLimiter, StoreError } from '@rollgate/core';
import { type IoredisClient, RedisStore } from '@rollgate/redis';
import { silenceOutages } from '@rollgate/test-support/silence-outages';
import type { Redis } from 'ioredis';
import { PrivateRedis } from './support/private-redis.js';

silenceOutages();

const redis = PrivateRedis.forThisFile();

beforeEach(() => redis.server.run('FLUSHALL'));

/** When the connection breaks: before Redis has run a script, or before its reply. */
type Break = 'before the script' | 'before the reply';

/** A client whose connection can break. */
class BreakingClient implements IoredisClient {
  readonly status = 'ready';
  readonly options = {};
  breaks: Break | undefined;

  constructor(private readonly client: Redis) {}

  evalsha(...args: Parameters<IoredisClient['evalsha']>): Promise<unknown> {
    return this.#run(() => this.client.evalsha(...args));
  }

  eval(...args: Parameters<IoredisClient['eval']>): Promise<unknown> {
    return this.#run(() => this.client.eval(...args));
  }

  async #run(script: () => Promise<unknown>): Promise<unknown> {
    const { breaks } = this;
    if (breaks === 'before the script') throw new Error('ECONNRESET');
    const reply = await script().catch((error) => error);
    if (breaks === 'before the reply' && !(reply instanceof Error)) throw new Error('ECONNRESET');
    if (reply instanceof Error) throw reply;
    return reply;
  }
}

/** Takes all of 2 slots for one action, and settles it to one slot over a connection that breaks. */
async function settleToOneSlot(breaks: Break) {
  const clock = manualClock(1e12);
  const limits = concurrency({ limit: 2, lease: '30s' });
  const client = new BreakingClient(redis.connect());
  const onLeaseLost = jest.fn();
  const limiter = new RateLimiter({ limits, store: new RedisStore({ client, clock }), timeout: '30s', onLeaseLost });
  const other = new RateLimiter({ limits, store: new RedisStore({ client: redis.connect(), clock }), timeout: '30s' });
  const decision = await limiter.check('ann', { cost: 2 });
  client.breaks = breaks;
  await expect(limiter.settle(decision, { cost: 1 })).rejects.toThrow(StoreError);
  client.breaks = undefined;
  return { clock, client, limiter, other, decision, onLeaseLost };
}

describe.each<Break>(['before the script', 'before the reply'])('a connection that breaks %s', (breaks) => {
  test('of a partial settlement loses no slot, and the next renewal frees the settled ones', async () => {
    const { clock, limiter, other, decision, onLeaseLost } = await settleToOneSlot(breaks);
    for (let third = 0; third < 4; third++) {
      clock.advance('10s');
      await limiter.peek('ann'); // Its reply follows that of the renewal.
      expect((await other.peek('ann')).remaining).toBe(1);
    }
    const taken = await other.check('ann');
    clock.advance('10s');
    await limiter.peek('ann');
    expect(taken.allowed).toBe(true);
    expect(onLeaseLost).not.toHaveBeenCalled();
    await limiter.release(decision);
    await other.release(taken);
    expect(await other.peek('ann')).toMatchObject({ remaining: 2, resetMs: 0 });
  });

  test('of a partial settlement and the first renewal loses no slot', async () => {
    const { clock, client, limiter, other, decision, onLeaseLost } = await settleToOneSlot(breaks);
    client.breaks = breaks;
    clock.advance('10s');
    await expect(limiter.peek('ann')).rejects.toThrow(StoreError);
    client.breaks = undefined;
    for (let third = 0; third < 3; third++) {
      clock.advance('10s');
      await limiter.peek('ann');
      expect((await other.peek('ann')).remaining).toBe(1);
    }
    expect(onLeaseLost).not.toHaveBeenCalled();
    await limiter.release(decision);
  });

  test('of a partial settlement leaves no slot taken after a release', async () => {
    const { limiter, other, decision } = await settleToOneSlot(breaks);
    await limiter.release(decision);
    expect(await other.peek('ann')).toMatchObject({ remaining: 2, resetMs: 0 });
  });
});

import { type Decision, MemoryStore, RateLimiter } from '@rollgate/core';
import { RedisStore } from '@rollgate/redis';
import { randomRuns } from '@rollgate/test-support/effort';
import fc from 'fast-check';
import { algorithmNames } from '../../store-conformance/src/algorithms.js';
import { forwardSteps, type History, histories } from '../../store-conformance/src/arbitraries/histories.js';
import { limits } from '../../store-conformance/src/arbitraries/limits.js';
import { toPlainDecision } from '../../store-conformance/src/expected-decision.js';
import { ModelComparison } from '../../store-conformance/src/model-comparison.js';
import type { LimitSpecs } from '../../store-conformance/src/reference-model.js';
import { TestClock } from '../../store-conformance/src/test-clock.js';
import { createExpiryClient } from './support/expiry-client.js';
import { freshPrefix, SomeRedis } from './support/some-redis.js';

const redis = SomeRedis.forThisFile();

/** Leases in memory never end, so there memory and Redis differ. */
const WITHOUT_LEASES = algorithmNames.filter((name) => name !== 'concurrency');
const hasNoLease = (limits: LimitSpecs) => Object.values(limits).every(({ options }) => !('lease' in options));
const hasNoLeases = ({ limits, commands }: History) =>
  hasNoLease(limits) && commands.every((command) => command.kind !== 'change' || hasNoLease(command.limits));

/** Passes each call to limiters in memory, on packed logs and on sorted sets, and expects the same result from all. */
class LimiterGroup {
  readonly #clock: TestClock;
  /**
   * The clock of the store in memory. It is set back before Redis replies to a peek at a later time, because an idle sweep at that
   * time would drop keys that a check at the present time still needs.
   */
  readonly #memoryClock = new TestClock();
  readonly #limiters: readonly RateLimiter[];
  /** What the limiters decided, by the decision that the caller got. */
  readonly #decisions = new WeakMap<Decision, readonly Decision[]>();

  constructor(clock: TestClock) {
    const client = createExpiryClient(redis.client);
    this.#clock = clock;
    const stores = [
      new MemoryStore({ clock: this.#memoryClock }),
      new RedisStore({ client, clock, log: 'packed', denialCache: false }),
      new RedisStore({ client, clock, log: 'sorted-set', denialCache: false }),
    ];
    this.#limiters = stores.map((store) => {
      return new RateLimiter({ limits: null, store, prefix: freshPrefix(), timeout: '30s' });
    });
  }

  check = (...given: Parameters<RateLimiter['check']>) => this.#decide((limiter) => limiter.check(...given));
  charge = (...given: Parameters<RateLimiter['charge']>) => this.#decide((limiter) => limiter.charge(...given));
  reset = (...given: Parameters<RateLimiter['reset']>) => this.#operate((limiter) => limiter.reset(...given));

  peek(...given: Parameters<RateLimiter['peek']>): Promise<Decision> {
    const { micros } = this.#memoryClock;
    const decision = this.#decide((limiter) => limiter.peek(...given)); // Memory has decided when this returns.
    this.#memoryClock.micros = micros;
    return decision;
  }

  refund = (decision: Decision) => this.settle(decision, { cost: 0 });

  async settle(decision: Decision, options: Parameters<RateLimiter['settle']>[1]): Promise<void> {
    const decisions = this.#decisions.get(decision)!;
    await this.#operate((limiter, index) => limiter.settle(decisions[index]!, options));
  }

  #operate<Result>(operation: (limiter: RateLimiter, index: number) => Promise<Result>): Promise<Result[]> {
    this.#memoryClock.micros = this.#clock.micros;
    return Promise.all(this.#limiters.map(operation));
  }

  async #decide(operation: (limiter: RateLimiter) => Promise<Decision>): Promise<Decision> {
    const decisions = await this.#operate(operation);
    const [first, ...others] = decisions.map(toPlainDecision);
    for (const other of others) expect(other).toEqual(first);
    this.#decisions.set(decisions[0]!, decisions);
    return decisions[0]!;
  }
}

async function compare({ limits, commands }: History): Promise<void> {
  const clock = new TestClock();
  clock.micros = 1e12;
  const group = new LimiterGroup(clock) as unknown as RateLimiter;
  const comparison = new ModelComparison(limits, clock, false);
  for (const command of commands) await comparison.run(command, group);
}

test('memory, packed logs, sorted sets and the oracles agree in random histories with settlements and charges', async () => {
  const history = histories(limits(WITHOUT_LEASES), ['ann', 'bob'], forwardSteps, { changes: 2 });
  await fc.assert(fc.asyncProperty(history.filter(hasNoLeases), compare), randomRuns(25, 20_000));
});

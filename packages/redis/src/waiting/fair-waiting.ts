import type { Duration } from '@rollgate/core';
import {
  type Costs,
  formatValue,
  parseDuration,
  type StoreWaiting,
  validateOptionNames,
  withCode,
} from '@rollgate/core/store';
import type { CheckInput } from '../operations/operations.js';
import type { EncodedPlan } from '../operations/plan-encoder.js';
import type { Log, ScriptBuilder } from '../script/script-builder.js';
import { performance } from '../util/platform.js';
import { queuesLua } from './queues.generated.js';
import type { QueueingStore } from './room.js';
import { Subscriber, type SubscriberClient } from './subscriber.js';
import { queueKeysOf } from './ticket-group.js';
import { WaitingRoom } from './waiting-room.js';

/** Options of {@link fairWaiting}. */
export interface FairWaitingOptions {
  /**
   * A separate client that receives messages, such as `redis.duplicate()`. The store never closes it. Without it, each process
   * asks for the turns of its callers when they are due, which takes more calls and finds freed units later.
   */
  subscriber?: SubscriberClient | undefined;
  /**
   * How long the callers of a process keep their places if it has ended or cannot reach Redis. From 1 second to 1 hour.
   *
   * @defaultValue `'5s'`
   */
  lease?: Duration | undefined;
  /**
   * How far ahead turns are granted. A longer horizon takes fewer calls. If units are freed, starts may be out of order by at
   * most this time. A process that ends wastes the turns of this time. At most 1 second. A horizon beyond the window
   * counts as the window.
   *
   * @defaultValue a fiftieth of the window, from 25 to 250 ms, but at least 50 ms with several limits
   */
  horizon?: Duration | undefined;
}

/** Queues for `RedisStore`, which {@link fairWaiting} creates. */
export interface FairWaiting {
  /** Connects the queues to a store. Only `RedisStore` calls it. */
  connect(store: QueueingStore, scripts: ScriptBuilder, log: Log): StoreQueues;
}

/** The queues of one store. */
export interface StoreQueues {
  readonly waiting: StoreWaiting;
  /** Where checks have found callers. */
  readonly busy: BusyQueues;
  /** Returns the keys of the queues that a check must find empty. */
  keysOf(input: CheckInput): readonly string[];
  /** Describes a check that is behind the callers that wait. */
  describeTail(input: CheckInput): CheckInput;
  /** Call it right after an operation that has freed quota of these keys. */
  wake(encodedPlan: EncodedPlan, keys: readonly string[], costs: Costs): void;
}

/**
 * Makes the callers of `wait` start in the order of their calls, over all processes that share the keys. Pass the result as
 * the option `waiting` of a `RedisStore`. All processes should use it.
 *
 * @throws TypeError or RangeError for an invalid option, with its name.
 * @example
 * ```ts
 * import { RateLimiter, rollingWindow } from '@rollgate/core';
 * import { RedisStore } from '@rollgate/redis';
 * import { fairWaiting } from '@rollgate/redis/waiting';
 * import { Redis } from 'ioredis';
 *
 * const redis = new Redis(process.env.REDIS_URL ?? 'redis://localhost');
 * const subscriber = redis.duplicate();
 * const calls = new RateLimiter({
 *   limits: rollingWindow({ limit: 10, window: '1s' }),
 *   store: new RedisStore({ client: redis, waiting: fairWaiting({ subscriber }) }),
 * });
 * (await calls.wait('api', { timeout: '10s' })).allowed; // => true
 * redis.disconnect();
 * subscriber.disconnect();
 * ```
 */
export function fairWaiting(options: FairWaitingOptions = {}): FairWaiting {
  validateOptionNames('fairWaiting', options, ['subscriber', 'lease', 'horizon']);
  const { subscriber, lease = '5s', horizon } = options;
  const leaseMs = parseDuration('lease', lease);
  if (leaseMs < 1000 || leaseMs > 3_600_000) throw invalidDuration('lease', 'from 1 second to 1 hour', lease);
  const horizonMs = horizon === undefined ? undefined : parseDuration('horizon', horizon);
  if (horizonMs !== undefined && horizonMs > 1000) throw invalidDuration('horizon', 'up to 1 second', horizon);
  const receiver = subscriber === undefined ? undefined : new Subscriber(subscriber);
  return {
    connect(store, scripts, log) {
      scripts.addQueues(queuesLua);
      const room = new WaitingRoom(store, {
        leaseMs,
        horizonMicros: horizonMs && Math.round(horizonMs * 1000),
        canDateLogs: log === 'packed',
        subscriber: receiver,
      });
      return {
        waiting: room,
        busy: new BusyQueues(),
        keysOf: ({ encodedPlan, keys, costs }) => queueKeysOf(encodedPlan.plan.rules, keys, costs),
        describeTail(input) {
          const { encodedPlan, keys, costs } = input;
          const group = room.groupOf(encodedPlan, keys, costs);
          return {
            ...input,
            keys: group.keys,
            encoding: group.encode('tail', room.caller(), [group.costsText(costs)]),
          };
        },
        wake: (...freed) => room.wake(...freed),
      };
    },
  };
}

function invalidDuration(name: string, expected: string, value: unknown): RangeError {
  return withCode(
    'ERR_ROLLGATE_INVALID_OPTION',
    new RangeError(`Expected \`${name}\` to be ${expected}, got ${formatValue(value)}`),
  );
}

/** For how long queues that had callers probably still have some. */
const MEMORY_MS = 1000;
/** For how many checks with other keys to remember that. */
const MAX_CHECKS = 1000;

/**
 * The checks that have found callers in their queues. A check looks whether callers wait before it runs the code of the queues,
 * because that takes longer. If it finds callers, it takes a second call, so the next check with the same queues skips the first.
 */
class BusyQueues {
  /** By the keys of the queues. */
  readonly #endsMs = new Map<string, number>();
  #lastEndMs = -Infinity;

  note(queueKeys: readonly string[]): void {
    if (this.#endsMs.size >= MAX_CHECKS) this.#endsMs.clear();
    this.#lastEndMs = performance.now() + MEMORY_MS;
    this.#endsMs.set(queueKeys.join(' '), this.#lastEndMs);
  }

  /** A check was allowed, so probably no callers wait any more. */
  forget(queueKeys: readonly string[]): void {
    this.#endsMs.delete(queueKeys.join(' '));
  }

  has(queueKeys: readonly string[]): boolean {
    if (this.#endsMs.size === 0) return false;
    const nowMs = performance.now();
    // As long as callers wait nowhere, a check does not even look.
    if (nowMs >= this.#lastEndMs) this.#endsMs.clear();
    const endMs = this.#endsMs.get(queueKeys.join(' '));
    return endMs !== undefined && endMs > nowMs;
  }
}

import type { Awaitable, Clock, CountingStore, Decision, Store } from '@rollgate/core';
import {
  type Costs,
  type CounterAlgorithm,
  foreignDecision,
  guardStore,
  type Keys,
  type Plan,
  readMicros,
  type SettledCosts,
  type StoreConnection,
  toDecision,
} from '@rollgate/core/store';
import slotOf from 'cluster-key-slot';
import { OperationNumbers } from '../changes/resend-numbers.js';
import { StateChanges } from '../changes/state-changes.js';
import type { RedisClient } from '../clients/redis-clients.js';
import type { RedisConnection } from '../clients/redis-connection.js';
import type { DenialCache } from '../denials/denial-cache.js';
import { CheckInputs } from '../operations/operation-inputs.js';
import { type CheckInput, type CheckOperation, Receipt } from '../operations/operations.js';
import { counterKey } from '../operations/redis-keys.js';
import { OperationSender } from '../sending/operation-sender.js';
import { CheckDecisions, localMicros } from './check-decisions.js';
import { PendingCheck } from './pending-check.js';
import { type RedisStoreOptions, resolveOptions } from './redis-store-options.js';

/**
 * Keeps the state in Redis, so that every process that uses the server shares it.
 *
 * A check is one atomic script. It tests every limit by the server's time, then records in all of them or in none. The store
 * sends the checks of one turn of the event loop together.
 *
 * @throws TypeError or RangeError for an invalid option, with its name.
 * @example
 * ```ts
 * import { RateLimiter, rollingWindow } from '@rollgate/core';
 * import { RedisStore } from '@rollgate/redis';
 * import { Redis } from 'ioredis';
 *
 * const redis = new Redis(process.env.REDIS_URL ?? 'redis://localhost');
 * const limiter = new RateLimiter({
 *   limits: rollingWindow({ limit: 10, window: '1m' }),
 *   store: new RedisStore({ client: redis }),
 *   onStoreError: 'fallback',
 * });
 * (await limiter.check('user:42')).allowed; // => true
 * redis.disconnect();
 * ```
 */
export class RedisStore implements Store, CountingStore {
  /** The client. All stores on it share their keys. */
  readonly backend: RedisClient;
  /** On a Cluster, the address of the node that owns the keys. */
  declare readonly partOf?: (plan: Plan, keys: Keys) => string;
  /** On a Cluster, the address of the node that owns what a check recorded. */
  declare readonly partOfReceipt?: (receipt: unknown) => string;
  /** On a Cluster, the address of the node that owns a rolling counter's subject. */
  declare readonly partOfSubject?: (counter: CounterAlgorithm, subject: string) => string;
  /** Applies the limiter's `timeout` and `onStoreError`. */
  readonly guard = guardStore;
  readonly #inputs: CheckInputs;
  readonly #connection: RedisConnection;
  readonly #sender: OperationSender;
  /** The injected clock. */
  readonly clock: Clock | undefined;
  readonly #denials: DenialCache | undefined;
  readonly #changes: StateChanges;
  readonly #decisions: CheckDecisions;
  #lastMicros = -Infinity;

  constructor(options: RedisStoreOptions) {
    const { client, connection, scripts, clusterSlot, clock, denials } = resolveOptions(options);
    this.backend = client;
    this.#connection = connection;
    this.#sender = new OperationSender(connection, scripts);
    this.#inputs = new CheckInputs(clusterSlot);
    this.clock = clock;
    this.#denials = denials;
    const { isCluster, mayResend } = connection;
    this.#changes = new StateChanges(this.#sender, denials, mayResend ? new OperationNumbers(isCluster) : undefined);
    this.#decisions = new CheckDecisions(denials, this.#changes);
    if (!isCluster) return;
    const nodeOf = (key: string) => connection.nodeOf(slotOf(key));
    this.partOf = (plan, keys) => nodeOf(this.#inputs.firstKey(plan, keys));
    this.partOfReceipt = (receipt) => (receipt instanceof Receipt ? nodeOf(receipt.hits[0]!.key) : '');
    this.partOfSubject = (counter, subject) => nodeOf(counterKey(counter, subject));
  }

  /** Implements {@link Store.check}. Returns at once if the denial cache knows that the check is rejected. */
  check(plan: Plan, keys: Keys, costs: Costs): Awaitable<Decision> {
    const input = this.#inputs.create(plan, keys, costs);
    const clockMicros = this.#clockMicros();
    const denials = this.#denials;
    if (denials === undefined || denials.isEmpty) return this.#send('check', input, clockMicros);
    return denials.find(input, clockMicros ?? localMicros()) ?? this.#send('check', input, clockMicros);
  }

  /** Implements {@link Store.peek}. */
  peek(plan: Plan, keys: Keys, costs: Costs): PromiseLike<Decision> {
    return this.#send('peek', this.#inputs.create(plan, keys, costs), this.#clockMicros());
  }

  /** Implements {@link Store.settle}, even for a decision by another `RedisStore` on the same Redis. */
  settle(receipt: unknown, costs: SettledCosts): Promise<void> {
    return this.#changes.settle(requireReceipt(receipt), costs, this.#clockMicros());
  }

  /** Implements {@link Store.release}. */
  release(receipt: unknown): Promise<void> {
    return this.#changes.release(requireReceipt(receipt), this.#clockMicros());
  }

  /**
   * Implements {@link Store.renew}. Rejects if a part of the leases could not be renewed. Renew all of them again then.
   * A lease whose slots are still free is taken again.
   */
  renew(receipts: readonly unknown[]): Promise<readonly unknown[]> {
    return this.#changes.renew(receipts.map(requireReceipt), this.#clockMicros(), this.#connection.isCluster);
  }

  /** Implements {@link Store.charge}. */
  async charge(plan: Plan, keys: Keys, costs: Costs): Promise<Decision> {
    const input = this.#inputs.create(plan, keys, costs);
    const { limitDecisions } = await this.#changes.charge(input, this.#clockMicros());
    return toDecision(plan.rules, limitDecisions, undefined);
  }

  /** Implements {@link Store.refund}, even for a decision by another `RedisStore` on the same Redis. */
  refund(receipt: unknown): Promise<void> {
    return this.settle(receipt, 0);
  }

  /** Implements {@link Store.reset}. */
  reset(plan: Plan, keys: Keys): Promise<void> {
    return this.#changes.reset(this.#inputs.create(plan, keys, 0));
  }

  /** Implements {@link Store.namesOf}. */
  namesOf(plan: Plan, keys: Keys): readonly string[] {
    return this.#inputs.create(plan, keys, 0).keys;
  }

  /** Implements {@link Store.namesOfReceipt}. */
  namesOfReceipt(receipt: unknown): readonly string[] {
    return requireReceipt(receipt).hits.map(({ key }) => key);
  }

  /** Implements {@link Store.connectionTo}. */
  connectionTo(part: string): StoreConnection {
    return this.#connection.healthOf(part);
  }

  /** Implements {@link CountingStore.addCount}. */
  addCount(counter: CounterAlgorithm, subject: string, units: number, intervalMicros: number): Promise<number> {
    const keys = [counterKey(counter, subject)];
    const clockMicros = this.#clockMicros();
    return new Promise((resolve, reject) => {
      this.#sender.add({ kind: 'count', counter, keys, units, intervalMicros, clockMicros, resolve, reject });
    });
  }

  #send(kind: CheckOperation['kind'], input: CheckInput, clockMicros: number | undefined): PromiseLike<Decision> {
    const check = new PendingCheck(kind, input, clockMicros, this.#decisions);
    this.#sender.add(check);
    return check.decision;
  }

  /** The injected clock's time. A step back clears the denial cache, because an earlier state may apply again. */
  #clockMicros(): number | undefined {
    if (this.clock === undefined) return undefined;
    const nowMicros = readMicros(this.clock);
    if (nowMicros < this.#lastMicros) this.#changes.noteClockStep();
    this.#lastMicros = nowMicros;
    return nowMicros;
  }
}

/** @throws TypeError if the receipt is one of another store. */
function requireReceipt(receipt: unknown): Receipt {
  if (!(receipt instanceof Receipt)) throw foreignDecision('a decision of a RedisStore');
  return receipt;
}

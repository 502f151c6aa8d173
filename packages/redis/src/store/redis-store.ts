import type { Awaitable, Clock, CountingStore, Decision, Store } from '@rollgate/core';
import {
  type Costs,
  type CounterAlgorithm,
  foreignDecision,
  guardStore,
  hasReport,
  type Keys,
  type Plan,
  type ReportingLimit,
  readMicros,
  type SettledCosts,
  type StoreConnection,
  type StoreInspection,
  type StoreWaiting,
  toDecision,
} from '@rollgate/core/store';
import type { RedisClient } from '../clients/redis-clients.js';
import type { CheckInput, CheckOperation } from '../operations/operations.js';
import { PlanEncoder } from '../operations/plan-encoder.js';
import { RedisReceipt } from '../operations/receipt.js';
import { counterKey } from '../operations/redis-keys.js';
import { OperationSender } from '../sending/operation-sender.js';
import { renewLeases } from '../settlement/lease-renewal.js';
import { ResendNumbers } from '../settlement/resend-numbers.js';
import { StateChanges } from '../settlement/state-changes.js';
import { hashSlotOf } from '../util/hash-slot.js';
import type { StoreQueues } from '../waiting/fair-waiting.js';
import type { QueueingStore } from '../waiting/room.js';
import { PendingCheck } from './pending-check.js';
import { type RedisStoreOptions, resolveRedisOptions } from './redis-store-options.js';

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
  readonly #options: ReturnType<typeof resolveRedisOptions>;
  readonly #plans: PlanEncoder;
  readonly #sender: OperationSender;
  /** The injected clock. */
  readonly clock: Clock | undefined;
  readonly #changes: StateChanges;
  /** The queues of all processes, if the store has them. */
  readonly waiting: StoreWaiting | undefined;
  readonly #queues: StoreQueues | undefined;
  #lastMicros = -Infinity;

  constructor(options: RedisStoreOptions) {
    this.#options = resolveRedisOptions(options);
    const { client, connection, scripts, clusterSlot, clock, denials, log, waiting } = this.#options;
    this.backend = client;
    this.#sender = new OperationSender(connection, scripts);
    this.#plans = new PlanEncoder(clusterSlot);
    this.clock = clock;
    const { isCluster, mayResend } = connection;
    this.#changes = new StateChanges(this.#sender, denials, mayResend ? new ResendNumbers(isCluster) : undefined);
    this.#queues = waiting?.connect(this.#toQueueingStore(), scripts, log);
    this.waiting = this.#queues?.waiting;
    if (!isCluster) return;
    const nodeOf = (key: string) => connection.nodeOf(hashSlotOf(key));
    this.partOf = (plan, keys) => nodeOf(this.namesOf(plan, keys)[0]!);
    this.partOfReceipt = (receipt) => (receipt instanceof RedisReceipt ? nodeOf(receipt.hits[0]!.key) : '');
    this.partOfSubject = (counter, subject) => nodeOf(counterKey(counter, subject));
  }

  /** Implements {@link Store.check}. Returns at once if the denial cache knows that the check is rejected. */
  check(plan: Plan, keys: Keys, costs: Costs): Awaitable<Decision> {
    const input = this.#toInput(plan, keys, costs);
    // A denial would hide that a place is free again, for example because a caller has stopped waiting.
    if (this.#queues !== undefined) return this.#checkBehindCallers(this.#queues, input);
    return this.#options.denials?.find(input) ?? this.#send('check', input);
  }

  /** Implements {@link Store.peek}. */
  peek(plan: Plan, keys: Keys, costs: Costs): PromiseLike<Decision> {
    return this.#send('peek', this.#toInput(plan, keys, costs));
  }

  /** Implements {@link Store.settle}, even for a decision by another `RedisStore` on the same Redis. */
  settle(receipt: unknown, costs: SettledCosts): Promise<void> {
    const settled = this.#changes.settle(requireReceipt(receipt), costs, this.#clockMicros());
    this.#wakeQueues(requireReceipt(receipt));
    return settled;
  }

  /** Implements {@link Store.release}. */
  release(receipt: unknown): Promise<void> {
    const released = this.#changes.release(requireReceipt(receipt), this.#clockMicros());
    this.#wakeQueues(requireReceipt(receipt));
    return released;
  }

  /**
   * Implements {@link Store.renew}. Rejects if a part of the leases could not be renewed. Renew all of them again then.
   * A lease whose slots are still free is taken again.
   */
  renew(receipts: readonly unknown[]): Promise<readonly unknown[]> {
    const { isCluster } = this.#options.connection;
    return renewLeases(receipts.map(requireReceipt), this.#sender, this.#clockMicros(), isCluster);
  }

  /** Implements {@link Store.charge}. */
  async charge(plan: Plan, keys: Keys, costs: Costs): Promise<Decision> {
    const charged = this.#changes.charge(this.#toInput(plan, keys, costs));
    if (plan.rules.some(({ limit }) => hasReport(limit))) this.#wakeReported(plan, keys);
    else if (plan.rules.some(({ limit }) => limit.givesBack)) this.#wakeKeys(plan, keys);
    const { limitDecisions } = await charged;
    return toDecision(plan.rules, limitDecisions, undefined);
  }

  /** Implements {@link Store.refund}, even for a decision by another `RedisStore` on the same Redis. */
  refund(receipt: unknown): Promise<void> {
    return this.settle(receipt, 0);
  }

  /** Implements {@link Store.reset}. */
  reset(plan: Plan, keys: Keys): Promise<void> {
    const done = this.#changes.reset(this.#plans.encode(plan), this.namesOf(plan, keys));
    this.#wakeKeys(plan, keys);
    return done;
  }

  /** Implements {@link Store.namesOf}. */
  namesOf(plan: Plan, keys: Keys): readonly string[] {
    return this.#plans.encode(plan).buildKeys(keys);
  }

  /** Implements {@link Store.namesOfReceipt}. */
  namesOfReceipt(receipt: unknown): readonly string[] {
    return requireReceipt(receipt).hits.map(({ key }) => key);
  }

  /** Implements {@link Store.connectionTo}. */
  connectionTo(part: string): StoreConnection {
    return this.#options.connection.healthOf(part);
  }

  /** Implements {@link Store.inspection}. Loads its code when it is first used. */
  get inspection(): StoreInspection {
    const { connection, clusterSlot, log } = this.#options;
    const load = async () => {
      const { RedisInspection } = await import('../inspection/redis-inspection.js');
      return new RedisInspection({
        client: this.backend,
        connection,
        clusterSlot,
        toInput: (plan) => this.#toInput(plan, '', 1),
        send: (operation) => this.#sender.add(operation),
      });
    };
    return {
      options: { log, ...(clusterSlot && { clusterSlot }) },
      listKeys: async (...call) => (await load()).listKeys(...call),
      writeNote: async (...note) => (await load()).writeNote(...note),
      readNotes: async () => (await load()).readNotes(),
    };
  }

  /** Implements {@link CountingStore.addCount}. */
  addCount(counter: CounterAlgorithm, subject: string, units: number, intervalMicros: number): Promise<number> {
    const keys = [counterKey(counter, subject)];
    const clockMicros = this.#clockMicros();
    return new Promise((resolve, reject) => {
      this.#sender.add({ kind: 'count', counter, keys, units, intervalMicros, clockMicros, resolve, reject });
    });
  }

  /** Grants the turns of units that a change has freed. It was sent just before, so both run in one script. */
  #wakeQueues({ checkedPlan, hits, checkedHits }: RedisReceipt): void {
    if (this.#queues === undefined || checkedHits.length < checkedPlan.plan.rules.length) return;
    const keys = checkedHits.map(({ key }) => key);
    const costs = checkedHits.map((hit) => (hits.includes(hit) && hit.atMicros > 0 ? 1 : 0));
    this.#queues.wake(checkedPlan, keys, costs);
  }

  /** Grants the turns of units that reported numbers have freed. All limits of such a charge are those of servers. */
  #wakeReported(plan: Plan, keys: Keys): void {
    if (this.#queues === undefined) return;
    const rules = plan.rules.map((rule) => ({ ...rule, limit: (rule.limit as ReportingLimit).quota }));
    this.#wakeKeys({ ...plan, rules }, keys);
  }

  /** Grants the turns of units that are free now. */
  #wakeKeys(plan: Plan, keys: Keys): void {
    this.#queues?.wake(this.#plans.encode(plan), this.namesOf(plan, keys), 1);
  }

  #toQueueingStore(): QueueingStore {
    return {
      clock: this.clock,
      encode: ({ plan, keys, costs }) => this.#toInput(plan, keys, costs),
      send: (operation) => this.#sender.add(operation),
      refund: (receipt) => this.settle(receipt, 0),
    };
  }

  #toInput(plan: Plan, keys: Keys, costs: Costs): CheckInput {
    const clockMicros = this.clock && this.#clockMicros();
    const encodedPlan = this.#plans.encode(plan, clockMicros);
    return { encodedPlan, keys: encodedPlan.buildKeys(keys), costs, clockMicros };
  }

  #send(kind: CheckOperation['kind'], input: CheckInput): PromiseLike<Decision> {
    const check = new PendingCheck(kind, input, this.#options.denials);
    this.#sender.add(check);
    return check.decision;
  }

  /** Usually no caller waits. So a script with the code of queues is only sent after one that has found their keys. */
  #checkBehindCallers(queues: StoreQueues, input: CheckInput): PromiseLike<Decision> {
    const { busy } = queues;
    const queueKeys = queues.keysOf(input);
    const isBusy = busy.has(queueKeys);
    const check = new PendingCheck('check', isBusy ? queues.describeTail(input) : input, undefined);
    if (isBusy) {
      check.onAllowed = () => busy.forget(queueKeys);
    } else {
      check.requireEmpty(queueKeys, () => {
        busy.note(queueKeys);
        this.#sender.add(new PendingCheck('check', queues.describeTail(input), undefined, check.decision));
      });
    }
    this.#sender.add(check);
    return check.decision;
  }

  /** The injected clock's time. */
  #clockMicros(): number | undefined {
    if (this.clock === undefined) return undefined;
    const nowMicros = readMicros(this.clock);
    if (nowMicros < this.#lastMicros) this.#options.denials?.noteClockStep();
    this.#lastMicros = nowMicros;
    return nowMicros;
  }
}

/** @throws TypeError if the receipt is one of another store. */
function requireReceipt(receipt: unknown): RedisReceipt {
  if (!(receipt instanceof RedisReceipt)) throw foreignDecision('a decision of a RedisStore');
  return receipt;
}

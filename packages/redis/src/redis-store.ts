import { performance } from 'node:perf_hooks';
import type { Awaitable, Clock, CountingStore, Decision, Duration, Store } from '@rollgate/core';
import {
  type CounterAlgorithm,
  type Keys,
  type Plan,
  parseDuration,
  readMicros,
  type StoreConnection,
  toDecision,
  validate,
  withCode,
} from '@rollgate/core/store';
import slotOf from 'cluster-key-slot';
import type { CheckInput } from './cached-denial.js';
import { DenialCache } from './denial-cache.js';
import { OperationSender } from './operation-sender.js';
import { type CheckOperation, type CheckResult, type Operation, Receipt } from './operations.js';
import { CLUSTER_SLOTS, type ClusterSlot, counterKey, type EncodedPlan, encodePlan } from './plan-encoding.js';
import { createConnection, type RedisClient, type RedisConnection } from './redis-connection.js';
import { LOGS, type Log, ScriptBuilder } from './script-builder.js';

/** What {@link RedisStore} takes. */
export interface RedisStoreOptions {
  /** An ioredis `Redis` or `Cluster`, or a node-redis client or cluster; it stays with who made it. */
  client: RedisClient;
  /** How the hits of a key are kept; default `'list'`. Change the limiters' `prefix` with it. */
  log?: Log | undefined;
  /**
   * On a Cluster, where the keys of a check live; default `'key'`. With `'key'` each key has its own slot, so that callers
   * spread over the nodes. A check with different keys for its limits then throws a `TypeError`. With `'prefix'` all keys of
   * a limiter share one slot, and its limits may have different keys. Has no effect without a Cluster.
   */
  clusterSlot?: ClusterSlot | undefined;
  /** The time in the place of the server's, for tests. */
  clock?: Clock | undefined;
  /**
   * Whether refusals are remembered in this process, so that a key that is hammered costs Redis next to nothing: at
   * most `maxKeys` of them (default 10,000), each for `maxAge` at most (default one second), or `false`.
   */
  denialCache?: { maxAge?: Duration | undefined; maxKeys?: number | undefined } | false | undefined;
}

/**
 * Keeps the state in Redis: every process that uses it decides by the same hits, as if they were one.
 *
 * A check is one script, which runs alone: it tests every limit by the server's time, then records in all or in none.
 * Checks that start in the same turn of the event loop travel together.
 *
 * @throws TypeError, RangeError naming the option that is wrong.
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
  /** The client: all stores on it share their keys. */
  readonly backend: RedisClient;
  /** On a Cluster, the node that answers for the keys. */
  declare readonly partOf?: (plan: Plan, keys: Keys) => string;
  /** On a Cluster, the node that answers for what a check recorded. */
  declare readonly partOfReceipt?: (receipt: unknown) => string;
  /** On a Cluster, the node that answers for what is counted. */
  declare readonly partOfSubject?: (counter: CounterAlgorithm, subject: string) => string;
  /** `undefined` without a Cluster. */
  readonly #clusterSlot: ClusterSlot | undefined;
  readonly #connection: RedisConnection;
  readonly #sender: OperationSender;
  readonly #clock: Clock | undefined;
  readonly #denials: DenialCache | undefined;
  readonly #plans = new WeakMap<Plan, EncodedPlan>();
  /** How often keys were reset or refunded: a refusal that was asked for before is not kept after. */
  #changes = 0;
  #lastMicros = -Infinity;

  constructor(options: RedisStoreOptions) {
    validate.knownOptions('RedisStore', options, ['client', 'log', 'clusterSlot', 'clock', 'denialCache']);
    const { client, log = 'list', clusterSlot = 'key', clock, denialCache = {} } = options;
    const connection = createConnection(client);
    this.backend = client;
    this.#connection = connection;
    if (connection.isCluster && connection.keyPrefix.includes('{')) {
      throw withCode(
        'ERR_ROLLGATE_INVALID_OPTION',
        new TypeError(
          `Expected the client's \`keyPrefix\` to hold no '{' on a Cluster, got ${validate.formatValue(connection.keyPrefix)}: it, and not the key, would say where a key lives, so that keys which are decided together could live apart; use the limiter's \`prefix\``,
        ),
      );
    }
    if (clock !== undefined && !validate.hasMethods(clock, ['now'])) {
      throw validate.invalidOption('clock', 'an object with a method `now`', clock);
    }
    const slot = validate.oneOf('clusterSlot', clusterSlot, CLUSTER_SLOTS);
    this.#clusterSlot = connection.isCluster ? slot : undefined;
    if (connection.isCluster) {
      const nodeOf = (key: string) => connection.nodeOf(slotOf(key));
      this.partOf = (plan, keys) => nodeOf(this.#encoded(plan).keysOf(keys)[0]!);
      this.partOfReceipt = (receipt) => (receipt instanceof Receipt ? nodeOf(receipt.hits[0]!.key) : '');
      this.partOfSubject = (counter, subject) => nodeOf(counterKey(counter, subject));
    }
    this.#sender = new OperationSender(connection, new ScriptBuilder(validate.oneOf('log', log, LOGS)));
    this.#clock = clock;
    this.#denials = denialCache === false ? undefined : toDenialCache(denialCache);
  }

  /** As {@link Store.check}; at once, when it is known already that the answer is no. */
  check(plan: Plan, keys: Keys, cost: number): Awaitable<Decision> {
    const encoded = this.#encoded(plan);
    const subject: CheckInput = { encoded, keys: encoded.keysOf(keys), cost };
    const clockMicros = this.#clockMicros();
    const denials = this.#denials;
    if (denials === undefined || denials.isEmpty) return this.#check(subject, clockMicros);
    return denials.find(subject, clockMicros ?? localMicros()) ?? this.#check(subject, clockMicros);
  }

  /** As {@link Store.peek}. */
  peek(plan: Plan, keys: Keys, cost: number): Promise<Decision> {
    const encoded = this.#encoded(plan);
    const subject: CheckInput = { encoded, keys: encoded.keysOf(keys), cost };
    const clockMicros = this.#clockMicros();
    return this.#ask('peek', subject, clockMicros, ({ said }) => {
      const decision = toDecision(plan.rules, said, undefined);
      if (decision.allowed)
        this.#denials?.dropAll(subject.keys); // It may be that another process has reset them.
      else this.#denials?.asked(subject);
      return decision;
    });
  }

  /** As {@link Store.refund}; by any store on the same Redis. */
  refund(receipt: unknown): Promise<void> {
    if (!(receipt instanceof Receipt)) {
      throw withCode(
        'ERR_ROLLGATE_FOREIGN_DECISION',
        new TypeError('Expected `decision` to be a decision of a RedisStore, got one of another store'),
      );
    }
    const keys = receipt.hits.map(({ key }) => key);
    const clockMicros = this.#clockMicros();
    return this.#change(keys, (done, fail) => ({ kind: 'refund', receipt, keys, clockMicros, done, fail }));
  }

  /** As {@link Store.reset}. */
  reset(plan: Plan, keys: Keys): Promise<void> {
    const encoded = this.#encoded(plan);
    const redisKeys = encoded.keysOf(keys);
    return this.#change(redisKeys, (done, fail) => ({ kind: 'reset', encoded, keys: redisKeys, done, fail }));
  }

  /** As {@link Store.connectionTo}. */
  connectionTo(part: string): StoreConnection {
    return this.#connection.healthOf(part);
  }

  /** As {@link CountingStore.addCount}. */
  addCount(counter: CounterAlgorithm, subject: string, units: number, intervalMicros: number): Promise<number> {
    const keys = [counterKey(counter, subject)];
    const clockMicros = this.#clockMicros();
    return new Promise((answer, fail) => {
      this.#sender.add({ kind: 'count', counter, keys, units, intervalMicros, clockMicros, answer, fail });
    });
  }

  #check(subject: CheckInput, clockMicros: number | undefined): Promise<Decision> {
    const changes = this.#changes;
    return this.#ask('check', subject, clockMicros, (answer, sentMs) => {
      const { said, receipt } = answer;
      const decision = toDecision(subject.encoded.plan.rules, said, receipt);
      if (receipt !== undefined) this.#denials?.dropAll(subject.keys);
      else this.#denials?.asked(subject);
      if (receipt === undefined && changes === this.#changes) {
        const askedMicros = clockMicros ?? sentMs * 1000;
        this.#denials?.add(subject, answer, { askedMicros, answeredMicros: clockMicros ?? localMicros() });
      }
      return decision;
    });
  }

  #ask(
    kind: CheckOperation['kind'],
    { encoded, keys, cost }: CheckInput,
    clockMicros: number | undefined,
    decide: (answer: CheckResult, sentMs: number) => Decision,
  ): Promise<Decision> {
    return new Promise((resolve, fail) => {
      const answer = (said: CheckResult, sentMs: number) => resolve(decide(said, sentMs));
      this.#sender.add({ kind, encoded, keys, cost, clockMicros, answer, fail });
    });
  }

  /** Forgets the refusals of the keys at once, and again when Redis has done it. */
  #change(
    keys: readonly string[],
    toOperation: (done: () => void, fail: (error: unknown) => void) => Operation,
  ): Promise<void> {
    this.#changes += 1;
    this.#denials?.dropAll(keys);
    return new Promise((resolve, reject) => {
      const done = () => {
        this.#changes += 1;
        this.#denials?.dropAll(keys);
        resolve();
      };
      this.#sender.add(toOperation(done, reject));
    });
  }

  #encoded(plan: Plan): EncodedPlan {
    let encoded = this.#plans.get(plan);
    if (encoded === undefined) {
      encoded = encodePlan(plan, this.#clusterSlot);
      this.#plans.set(plan, encoded);
    }
    return encoded;
  }

  /** By the injected clock. When it steps back, no refusal is known any more: the state may be another one then. */
  #clockMicros(): number | undefined {
    if (this.#clock === undefined) return undefined;
    const nowMicros = readMicros(this.#clock);
    if (nowMicros < this.#lastMicros) {
      this.#changes += 1;
      this.#denials?.clear();
    }
    this.#lastMicros = nowMicros;
    return nowMicros;
  }
}

function localMicros(): number {
  return Math.floor(performance.now() * 1000); // Waits are whole microseconds, also when they have run down.
}

function toDenialCache(options: NonNullable<Exclude<RedisStoreOptions['denialCache'], false>>): DenialCache {
  validate.knownOptions('denialCache', options, ['maxAge', 'maxKeys']);
  const { maxAge = 1000, maxKeys = 10_000 } = options;
  return new DenialCache({
    maxAgeMs: parseDuration('denialCache.maxAge', maxAge),
    maxKeys: validate.positiveInteger('denialCache.maxKeys', maxKeys),
  });
}

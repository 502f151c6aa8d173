import type { Clock, Duration } from '@rollgate/core';
import {
  formatValue,
  hasMethods,
  invalidOption,
  optionError,
  parseDuration,
  validateClock,
  validateOneOf,
  validateOptionNames,
  validatePositiveInteger,
} from '@rollgate/core/store';
import { createConnection } from '../clients/create-connection.js';
import type { RedisClient } from '../clients/redis-clients.js';
import type { RedisConnection } from '../clients/redis-connection.js';
import { DenialCache } from '../denials/denial-cache.js';
import { CLUSTER_SLOTS, type ClusterSlot } from '../operations/redis-keys.js';
import { LOGS, type Log, ScriptBuilder } from '../script/script-builder.js';
import type { FairWaiting } from '../waiting/fair-waiting.js';

/** Options of {@link RedisStore}. */
export interface RedisStoreOptions {
  /**
   * A client of ioredis, iovalkey, node-redis or Valkey GLIDE, also of a Cluster, or a `Redis` of `@upstash/redis`. The store
   * never closes it.
   */
  client: RedisClient;
  /**
   * The form in which Redis keeps the hits of a rolling window. If you change it, change the limiters' `prefix` too.
   *
   * - `'packed'` is a string with 7 bytes per hit. It is the fastest and takes the least memory.
   * - `'sorted-set'` is the format of many published limiters, which ordinary Redis tools can read.
   *
   * @defaultValue `'packed'`
   */
  log?: Log | undefined;
  /**
   * What determines the slot of a check's keys on a Cluster. Has no effect without a Cluster.
   *
   * - `'key'` gives each key its own slot, so the keys spread over the nodes. A check with different keys for its limits then
   *   throws a `TypeError`.
   * - `'prefix'` keeps all keys of a limiter in one slot. Its limits may have different keys.
   *
   * @defaultValue `'key'`
   */
  clusterSlot?: ClusterSlot | undefined;
  /** A clock for tests. @defaultValue the time of the Redis server */
  clock?: Clock | undefined;
  /**
   * Keeps rejections in this process, so that a client that keeps sending requests causes almost no load in Redis. `false`
   * disables the cache.
   *
   * - `maxAge` is how long a rejection is valid at most, in milliseconds or as a duration such as `'1s'`.
   * - `maxKeys` is how many rejections the cache keeps at most.
   *
   * @defaultValue `{ maxAge: '1s', maxKeys: 10_000 }`
   */
  denialCache?:
    | {
        /**
         * How long to remember a rejection at most, in milliseconds or as text.
         *
         * @defaultValue `'1s'`
         */
        maxAge?: Duration | undefined;
        /**
         * The number of keys to remember at most.
         *
         * @defaultValue 10,000
         */
        maxKeys?: number | undefined;
      }
    | false
    | undefined;
  /**
   * `fairWaiting()` of `@rollgate/redis/waiting`, which makes the callers of `wait` start in order over all processes. Without it,
   * each process has its own order. With it, no check uses the denial cache.
   */
  waiting?: FairWaiting | undefined;
}

/** @throws TypeError or RangeError for an invalid option, with its name. */
export function resolveRedisOptions(options: RedisStoreOptions) {
  validateOptionNames('RedisStore', options, ['client', 'log', 'clusterSlot', 'clock', 'denialCache', 'waiting']);
  const { client, log = 'packed', clusterSlot = 'key', clock, denialCache = {}, waiting } = options;
  const connection = createConnection(client);
  requireNoHashTag(connection);
  validateClock(clock);
  if (waiting !== undefined && !hasMethods(waiting, ['connect'])) {
    throw invalidOption('waiting', '`fairWaiting()` of `@rollgate/redis/waiting`', waiting);
  }
  const slot = validateOneOf('clusterSlot', clusterSlot, CLUSTER_SLOTS);
  return {
    client,
    connection,
    log,
    waiting,
    scripts: new ScriptBuilder(validateOneOf('log', log, LOGS)),
    clusterSlot: connection.isCluster ? slot : undefined,
    clock,
    denials: denialCache === false ? undefined : createDenialCache(denialCache),
  };
}

/** A brace in the client's prefix would determine the slot of every key. */
function requireNoHashTag({ isCluster, keyPrefix }: RedisConnection): void {
  if (!isCluster || !keyPrefix.includes('{')) return;
  throw optionError(
    `Expected the client's \`keyPrefix\` to contain no '{' on a Cluster, got ${formatValue(keyPrefix)}. Use the limiter's \`prefix\` instead, because a brace in \`keyPrefix\` changes the slots of all keys`,
  );
}

function createDenialCache(options: NonNullable<Exclude<RedisStoreOptions['denialCache'], false>>): DenialCache {
  validateOptionNames('denialCache', options, ['maxAge', 'maxKeys']);
  const { maxAge = 1000, maxKeys = 10_000 } = options;
  return new DenialCache(
    parseDuration('denialCache.maxAge', maxAge),
    validatePositiveInteger('denialCache.maxKeys', maxKeys),
  );
}

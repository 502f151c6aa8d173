import { type Limits, RateLimiter, type RateLimiterOptions } from '@rollgate/core';
import { RedisStore, type RedisStoreOptions } from '@rollgate/redis';
import { type FairWaiting, type FairWaitingOptions, fairWaiting } from '@rollgate/redis/waiting';
import type { PrivateRedis } from './private-redis.js';

/** What differs from a process with its own connections, whose limiter throws if the store fails. */
export interface JoinOptions
  extends FairWaitingOptions,
    Pick<RateLimiterOptions, 'prefix' | 'maxWaiting' | 'onStoreError'>,
    Pick<RedisStoreOptions, 'clock'> {
  readonly client?: RedisStoreOptions['client'];
  readonly waiting?: FairWaiting;
}

/**
 * Creates a limiter as another process has it. By default, only an event ends the wait of a caller within a test, because the lease is
 * long.
 */
export function joinQueues<Given extends Limits>(
  redis: PrivateRedis,
  limits: Given,
  options: JoinOptions = {},
): RateLimiter<Given> {
  const { subscriber = redis.connect(), lease = '1h', client = redis.connect(), clock, ...rest } = options;
  const { waiting = fairWaiting({ subscriber, lease }), ...ofLimiter } = rest;
  const store = new RedisStore({ client, waiting, clock });
  return new RateLimiter({ limits, store, timeout: '30s', ...ofLimiter } as unknown as RateLimiterOptions<Given>);
}

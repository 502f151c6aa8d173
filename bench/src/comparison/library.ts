import type { Server } from 'node:http';
import type { PrivateRedis } from './private-redis.js';

/** At most `limit` actions in `windowMs` milliseconds. */
export interface Rule {
  readonly limit: number;
  readonly windowMs: number;
}

/** The result of one action. */
export interface Outcome {
  readonly allowed: boolean;
  /** The wait that the library reports to a rejected client, in milliseconds. */
  readonly retryAfterMs?: number | undefined;
  /** Returns the action's unit to the limit. */
  refund?(): Promise<unknown>;
}

export interface Limiter {
  /** Checks and records one action. Rejects if the library throws, or if its server responds with an error. */
  check(key: string): Promise<Outcome>;
  reset?(key: string): Promise<unknown>;
}

type Created = Limiter | Promise<Limiter>;

/** A library, called as its documentation does, with its default options. What it does not offer is missing. */
export interface Library {
  /** Whether one limiter counts many keys. @defaultValue `true` */
  readonly hasKeys?: boolean;
  /** The most keys that it keeps in memory by default, if its documentation states a bound. */
  readonly keyBound?: number;
  /** Whether the clock of each process decides in Redis, and not the server's. @defaultValue `false` */
  readonly hasClientClock?: boolean;
  inMemory?(rule: Rule): Created;
  /** Two rules in memory, both of which must allow an action. */
  combined?(first: Rule, second: Rule): Created;
  inRedis?(rule: Rule, redis: PrivateRedis): Created;
  /** Starts a server on loopback with the limiter in front of its only route `/`. It trusts a proxy on the same machine. */
  serve?(rule: Rule): Promise<Server>;
}

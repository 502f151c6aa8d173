import type { OnStoreError } from '@rollgate/core';
import type { LimitSpecs } from '../../../store-conformance/src/reference-model.js';
import type { Log } from '../support/some-redis.js';

export interface LimiterSpec {
  /** The index of its plan in the schedule. */
  readonly plan: number;
  readonly timeoutMs: number;
  readonly onStoreError: OnStoreError;
}

/** A process with one client, one store and some limiters. */
export interface ProcessSpec {
  readonly limiters: readonly LimiterSpec[];
  /** `null` without a denial cache. */
  readonly denialMaxAgeMs: number | null;
  /** Whether the client resends what had no reply when a connection broke. */
  readonly resends: boolean;
  /** Whether the client keeps commands until it is connected. */
  readonly queuesOffline: boolean;
  /** How many attempts to connect may fail before the client rejects everything that waits. */
  readonly retries: number;
}

/** A name for each limit of a plan, in their order. */
export type Names = readonly [string, string];

/** The cost for all limits of a plan, or one for each in their order. */
export type Cost = number | readonly [number, number];

/** What a process does. Indices of processes and limiters are taken modulo their count. */
export type CallStep =
  | {
      readonly kind: 'check' | 'peek' | 'charge';
      readonly process: number;
      readonly limiter: number;
      readonly names: Names;
      readonly cost: Cost;
      readonly times: number;
    }
  | { readonly kind: 'refund'; readonly process: number; readonly back: number; readonly times: number }
  | { readonly kind: 'settle'; readonly process: number; readonly back: number; readonly settled: Cost }
  | { readonly kind: 'reset'; readonly process: number; readonly limiter: number; readonly names: Names };

/** What goes wrong. */
export type FaultStep =
  /** The connection closes. The first `arriving` messages in flight still reach the server. */
  | { readonly kind: 'cut'; readonly process: number; readonly arriving: number; readonly reconnectMs: number }
  /** The connection closes when the server has executed the next message and before the reply arrives. */
  | { readonly kind: 'loseReply'; readonly process: number; readonly reconnectMs: number }
  /** Nothing passes the connection any more, and the client does not notice for this time. */
  | { readonly kind: 'silence'; readonly process: number; readonly forMs: number; readonly reconnectMs: number }
  /** From then on, each message takes this much longer. */
  | { readonly kind: 'slow'; readonly process: number; readonly byMs: number }
  /** The process is blocked, as during a garbage collection. */
  | { readonly kind: 'pause'; readonly process: number; readonly forMs: number }
  /** The server stops work. */
  | { readonly kind: 'stall'; readonly forMs: number }
  /** The server replies with an error. */
  | { readonly kind: 'fail'; readonly forMs: number }
  /** The server's clock is set forward or back. */
  | { readonly kind: 'clock'; readonly byMs: number }
  /** The server loses its scripts. */
  | { readonly kind: 'flush' }
  /** The server, or another one with another clock, starts without the last operations and without scripts. */
  | { readonly kind: 'restart'; readonly lost: number; readonly downMs: number; readonly clockMs: number };

export type Step = (CallStep | FaultStep) & { readonly afterMicros: number };

/** Everything that happens, as data. The same schedule always has the same outcome. */
export interface Schedule {
  readonly log: Log;
  /** Whether a script runs only a few operations, and leaves the others to the next one. */
  readonly isSliced: boolean;
  readonly plans: readonly LimitSpecs[];
  readonly processes: readonly ProcessSpec[];
  readonly steps: readonly Step[];
  /** The network's random numbers, in order. After them, every number is 0. */
  readonly draws: readonly number[];
}

import type { OnStoreError } from '@rollgate/core';
import type { Specs } from '../../../store-conformance/src/reference-model.js';
import type { Log } from '../support/some-redis.js';

export interface LimiterSpec {
  /** Its place in the plans of the schedule. */
  readonly plan: number;
  readonly timeoutMs: number;
  readonly onStoreError: OnStoreError;
}

/** A process with one client, one store and some limiters. */
export interface ProcessSpec {
  readonly limiters: readonly LimiterSpec[];
  /** `null` without a denial cache. */
  readonly denialMaxAgeMs: number | null;
  /** Whether the client sends again what was not answered on a connection that broke. */
  readonly resends: boolean;
  /** Whether the client keeps commands until it is connected. */
  readonly queuesOffline: boolean;
  /** How many attempts to connect may fail before everything that waits is rejected. */
  readonly retries: number;
}

/** A name for each limit of a plan, in their order. */
export type Names = readonly [string, string];

/** What a process does. Numbers of processes and limiters are taken modulo how many there are. */
export type CallStep =
  | {
      readonly kind: 'check' | 'peek';
      readonly process: number;
      readonly limiter: number;
      readonly names: Names;
      readonly cost: number;
      readonly times: number;
    }
  | { readonly kind: 'refund'; readonly process: number; readonly back: number; readonly times: number }
  | { readonly kind: 'reset'; readonly process: number; readonly limiter: number; readonly names: Names };

/** What goes wrong. */
export type FaultStep =
  /** The connection closes. The first `arriving` messages that are under way reach the server all the same. */
  | { readonly kind: 'cut'; readonly process: number; readonly arriving: number; readonly reconnectMs: number }
  /** The connection closes when the server has executed the next message and before the reply arrives. */
  | { readonly kind: 'steal'; readonly process: number; readonly reconnectMs: number }
  /** Nothing passes the connection any more, and the client does not notice for so long. */
  | { readonly kind: 'silence'; readonly process: number; readonly forMs: number; readonly reconnectMs: number }
  /** From then on each message takes so much longer. */
  | { readonly kind: 'slow'; readonly process: number; readonly byMs: number }
  /** The process does nothing, as during a garbage collection. */
  | { readonly kind: 'pause'; readonly process: number; readonly forMs: number }
  /** The server does nothing. */
  | { readonly kind: 'stall'; readonly forMs: number }
  /** The server answers with an error. */
  | { readonly kind: 'refuse'; readonly forMs: number }
  /** The server's clock is set forward or back. */
  | { readonly kind: 'clock'; readonly byMs: number }
  /** The server forgets its scripts. */
  | { readonly kind: 'flush' }
  /** The server, or another one with another clock, starts without the last operations and without scripts. */
  | { readonly kind: 'restart'; readonly lost: number; readonly downMs: number; readonly clockMs: number };

export type Step = (CallStep | FaultStep) & { readonly afterMicros: number };

/** All that happens, as data: the same schedule always takes the same course. */
export interface Schedule {
  readonly log: Log;
  /** Whether a script runs a few operations at most, and leaves the others to the next one. */
  readonly isSliced: boolean;
  readonly plans: readonly Specs[];
  readonly processes: readonly ProcessSpec[];
  readonly steps: readonly Step[];
  /** What the network draws, in the order in which it asks; 0 from then on. */
  readonly draws: readonly number[];
}

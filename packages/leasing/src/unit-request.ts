import type { Awaitable, Decision } from '@rollgate/core';
import type { Lease } from './lease.js';
import type { OpenCalls } from './open-calls.js';

/** What an account needs of the store. */
export interface AccountPort {
  readonly openCalls: OpenCalls;
  now(): number;
  /** Calls `callback` after the code that runs now. */
  afterTurn(callback: () => void): void;
  /** Takes units from the store, all or none. */
  take(key: string, units: number): Awaitable<Decision>;
  /** Lowers what the take with this receipt recorded. */
  settle(receipt: unknown, units: number): Awaitable<void>;
  /** Records units, whether or not they are free. */
  charge(key: string, units: number): Awaitable<unknown>;
  /** Called when the account asks for a lease. */
  onBusy(account: object): void;
}

/** Gets the end of a request for units. */
export interface RequestListener {
  /** The units that it needs. */
  readonly units: number;
  /**
   * `granted` is the new lease if the listener was there when the request was sent. The store has decided in between, as it decides
   * a check. So the listener may spend its units even if the lease is over.
   */
  onEnd(granted: Lease | undefined): void;
  onFailed(error: unknown): void;
}

/** A request for units that is under way. */
export interface UnitRequest {
  /** The units of the lease. */
  readonly granted: number;
  /** The fewest units that are of use. */
  readonly units: number;
  /** Whether the store has just rejected a larger request. */
  readonly isRepeated: boolean;
  /** The lease begins before the store records it. So it ends before the store stops counting it. */
  readonly sentMs: number;
  /** How many resets were before it. */
  readonly resets: number;
  /** Those that waited when it was sent. */
  readonly listeners: readonly RequestListener[];
}

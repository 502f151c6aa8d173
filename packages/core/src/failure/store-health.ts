import { channel } from 'node:diagnostics_channel';
import { performance } from 'node:perf_hooks';
import { MemoryStore } from '../memory-store.js';
import type { Store } from '../store.js';

/** Published on the channel `rollgate:store:failure` when a store begins to fail. */
export interface StoreFailure {
  readonly store: Store;
  readonly error: Error;
}

/** Published on the channel `rollgate:store:recovery` when it has answered again without a failure. */
export interface StoreRecovery {
  readonly store: Store;
  /** Milliseconds since the failure was published. */
  readonly failedForMs: number;
  /** How many calls failed meanwhile; those that were not sent because the store was known to be down do not count. */
  readonly failures: number;
}

const failureChannel = channel('rollgate:store:failure');
const recoveryChannel = channel('rollgate:store:recovery');

/** A store that fails now and then is failing all the while: so one outage is told once, however it goes. */
const QUIET_MS = 1000;

const SHORTEST_PROBE_MS = 250;
const LONGEST_PROBE_MS = 8000;

const healths = new WeakMap<Store, StoreHealth>();

/**
 * What this process knows of how a store is doing, from the calls of all limiters that use it.
 *
 * *Down*: a call was not answered in time, and none was answered since. Nobody is to wait for it then; a probe now and
 * then finds out when it is back. *Failing*: calls fail, in whichever way. That is what the operator is told, by the
 * two channels, or by a warning of the process when nobody listens there.
 */
export class StoreHealth {
  readonly #store: Store;
  #isDown = false;
  #failingSinceMs: number | undefined;
  #failures = 0;
  #lastFailureMs = 0;
  #probeDueMs = 0;
  #probeIntervalMs = SHORTEST_PROBE_MS;
  #fallback: MemoryStore | undefined;

  private constructor(store: Store) {
    this.#store = store;
  }

  static of(store: Store): StoreHealth {
    let health = healths.get(store);
    if (health === undefined) {
      health = new StoreHealth(store);
      healths.set(store, health);
    }
    return health;
  }

  get isDown(): boolean {
    return this.#isDown;
  }

  /** This process's own memory, for all limiters of the store: those that share keys there share them here. */
  get fallback(): MemoryStore {
    this.#fallback ??= new MemoryStore();
    return this.#fallback;
  }

  /** Notes that a call was answered. */
  answered(): void {
    if (this.#failingSinceMs !== undefined) this.#recover(this.#failingSinceMs);
  }

  /** Notes that a call was rejected; `isLate` when it was not answered in time instead. */
  failed(error: Error, isLate: boolean): void {
    const nowMs = performance.now();
    this.#isDown ||= isLate;
    this.#failures += 1;
    this.#lastFailureMs = nowMs;
    if (this.#failingSinceMs !== undefined) return;
    this.#failingSinceMs = nowMs;
    const failure: StoreFailure = { store: this.#store, error };
    if (failureChannel.hasSubscribers) failureChannel.publish(failure);
    else warn(`${error.message}. Checks are answered as \`onStoreError\` says`, 'ROLLGATE_STORE_FAILED');
  }

  /** Whether it is time to ask a store that is down whether it is back. The longer it is silent, the rarer. */
  takeProbe(): boolean {
    const nowMs = performance.now();
    if (nowMs < this.#probeDueMs) return false;
    this.#probeDueMs = nowMs + this.#probeIntervalMs;
    this.#probeIntervalMs = Math.min(2 * this.#probeIntervalMs, LONGEST_PROBE_MS);
    return true;
  }

  /** Notes that a probe came back, be it with an error: the next one need not be rarer. */
  probed(): void {
    this.#probeIntervalMs = SHORTEST_PROBE_MS;
    this.#probeDueMs = Math.min(this.#probeDueMs, performance.now() + SHORTEST_PROBE_MS);
  }

  #recover(sinceMs: number): void {
    this.#isDown = false;
    const nowMs = performance.now();
    if (nowMs - this.#lastFailureMs < QUIET_MS) return;
    const failedForMs = Math.round(nowMs - sinceMs);
    const recovery: StoreRecovery = { store: this.#store, failedForMs, failures: this.#failures };
    this.#failingSinceMs = undefined;
    this.#failures = 0;
    if (recoveryChannel.hasSubscribers) recoveryChannel.publish(recovery);
    else warn(`The store answers again, after ${failedForMs} ms`, 'ROLLGATE_STORE_RECOVERED');
  }
}

function warn(message: string, code: string): void {
  process.emitWarning(message, { type: 'RollgateWarning', code });
}

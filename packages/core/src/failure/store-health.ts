import { channel } from 'node:diagnostics_channel';
import { performance } from 'node:perf_hooks';
import { MemoryStore } from '../memory-store.js';
import type { Keys, Plan } from '../plan.js';
import type { CountingStore, Store, StoreConnection } from '../store.js';

/**
 * Published on the channel `rollgate:store:failure` when a store begins to fail, and when one that failed by its answers
 * falls silent.
 */
export interface StoreFailure {
  readonly store: Store | CountingStore;
  /** Which part of the store, for one whose parts fail apart: a node of a Cluster. Else empty. */
  readonly part: string;
  readonly error: Error;
}

/** Published on the channel `rollgate:store:recovery` when it has answered for a second without a failure. */
export interface StoreRecovery {
  readonly store: Store | CountingStore;
  readonly part: string;
  /** Milliseconds since its first failure. */
  readonly failedForMs: number;
  /** How many calls failed meanwhile; those that were not sent because the store was known to be down do not count. */
  readonly failures: number;
}

const failureChannel = channel('rollgate:store:failure');
const recoveryChannel = channel('rollgate:store:recovery');

/** A store that fails now and then is failing all the while: so one outage is told once, however it goes. */
const QUIET_MS = 1000;

const MIN_PROBE_INTERVAL_MS = 250;
const MAX_PROBE_INTERVAL_MS = 8000;

const stores = new WeakMap<Store | CountingStore, StoreHealths>();

/** How all parts of a store are doing, and what stands in for it: one for all limiters of the store in this process. */
export class StoreHealths {
  readonly #store: Store | CountingStore;
  readonly #parts = new Map<string, StoreHealth>();
  #fallback: MemoryStore | undefined;

  private constructor(store: Store | CountingStore) {
    this.#store = store;
  }

  static of(store: Store | CountingStore): StoreHealths {
    let healths = stores.get(store);
    if (healths === undefined) {
      healths = new StoreHealths(store);
      stores.set(store, healths);
    }
    return healths;
  }

  /** This process's own memory: limiters that share keys in the store share them here. */
  get fallback(): MemoryStore {
    this.#fallback ??= new MemoryStore();
    return this.#fallback;
  }

  /** Forgets the keys in the memory, if there is one. */
  resetFallback(plan: Plan, keys: Keys): void {
    this.#fallback?.reset(plan, keys);
  }

  ofPart(part: string): StoreHealth {
    let health = this.#parts.get(part);
    if (health === undefined) {
      health = new StoreHealth(this.#store, part);
      this.#parts.set(part, health);
    }
    return health;
  }
}

/**
 * What this process knows of how a store, or a part of one, is doing, from the calls of all limiters that use it.
 *
 * *Down*: a call was not answered for so long, and none was answered sooner since. Whoever would not wait longer than
 * that is not to wait at all then; a probe now and then finds out when it is back. *Failing*: calls fail, in whichever
 * way. That is what the operator is told, by the two channels, or by a warning of the process when nobody listens there.
 */
export class StoreHealth {
  readonly #store: Store | CountingStore;
  readonly #part: string;
  /** How long a call waited in vain; 0 when one was answered sooner since. */
  #unresponsiveForMs = 0;
  /** Whether the operator was told, or needs not be told, that the present failure is silence. */
  #hasPublishedTimeout = false;
  #failingSinceMs: number | undefined;
  #publishedMs = 0;
  #failures = 0;
  #lastFailureMs = 0;
  #probeDueMs = 0;
  #probeIntervalMs = MIN_PROBE_INTERVAL_MS;

  constructor(store: Store | CountingStore, part: string) {
    this.#store = store;
    this.#part = part;
  }

  /** What is known of its connection. */
  get connection(): StoreConnection | undefined {
    return this.#store.connectionTo?.(this.#part);
  }

  /** Whether it is down for those who would wait for so long. */
  isDownFor(timeoutMs: number): boolean {
    return timeoutMs <= this.#unresponsiveForMs;
  }

  /** Notes that what was asked at `sentMs` has been answered now, however late. */
  recordSuccess(sentMs: number): void {
    if (this.#failingSinceMs === undefined) return;
    const nowMs = performance.now();
    this.recordProbeReply();
    if (this.#unresponsiveForMs > 0 && nowMs - sentMs >= this.#unresponsiveForMs) return; // It is as slow as it was.
    this.#unresponsiveForMs = 0;
    this.#recover(this.#failingSinceMs, nowMs);
  }

  /** Notes that a call was rejected, or had waited in vain for `waitedMs`. */
  recordFailure(error: Error, waitedMs: number): void {
    const nowMs = performance.now();
    // What failed by its answers until now may fail so for long, and is not to hide that it has fallen silent.
    const hasFallenSilent = waitedMs > 0 && !this.#hasPublishedTimeout && nowMs - this.#publishedMs > QUIET_MS;
    this.#hasPublishedTimeout ||= waitedMs > 0;
    this.#unresponsiveForMs = Math.max(this.#unresponsiveForMs, waitedMs);
    this.#failures += 1;
    this.#lastFailureMs = nowMs;
    if (this.#failingSinceMs !== undefined && !hasFallenSilent) return;
    this.#failingSinceMs ??= nowMs;
    this.#publishedMs = nowMs;
    const failure: StoreFailure = { store: this.#store, part: this.#part, error };
    if (failureChannel.hasSubscribers) failureChannel.publish(failure);
    else this.#warn(`${error.message}. Checks are answered as \`onStoreError\` says`, 'ROLLGATE_STORE_FAILED');
  }

  /** Whether it is time to ask a store that is down whether it is back. The longer it is silent, the rarer. */
  claimProbe(): boolean {
    const nowMs = performance.now();
    if (nowMs < this.#probeDueMs) return false;
    this.#probeDueMs = nowMs + this.#probeIntervalMs;
    this.#probeIntervalMs = Math.min(2 * this.#probeIntervalMs, MAX_PROBE_INTERVAL_MS);
    return true;
  }

  /** Notes that an answer came, be it late or an error: the next probe need not be rarer. */
  recordProbeReply(): void {
    this.#probeIntervalMs = MIN_PROBE_INTERVAL_MS;
    this.#probeDueMs = Math.min(this.#probeDueMs, performance.now() + MIN_PROBE_INTERVAL_MS);
  }

  #recover(sinceMs: number, nowMs: number): void {
    if (nowMs - this.#lastFailureMs < QUIET_MS) return;
    const failedForMs = Math.round(nowMs - sinceMs);
    const recovery: StoreRecovery = { store: this.#store, part: this.#part, failedForMs, failures: this.#failures };
    this.#failingSinceMs = undefined;
    this.#hasPublishedTimeout = false;
    this.#failures = 0;
    if (recoveryChannel.hasSubscribers) recoveryChannel.publish(recovery);
    else this.#warn(`The store answers again, after ${failedForMs} ms`, 'ROLLGATE_STORE_RECOVERED');
  }

  #warn(message: string, code: string): void {
    const where = this.#part === '' ? '' : ` (${this.#part})`;
    process.emitWarning(message + where, { type: 'RollgateWarning', code });
  }
}

import { storeFailures, storeRecoveries } from '../events/events.js';
import { MemoryStore } from '../memory/memory-store.js';
import type { Keys, Plan } from '../plan/plan.js';
import type { CountingStore, Store, StoreConnection } from '../store/store.js';
import { type Timers, timersOf } from '../time/clock.js';
import { getOrInsert } from '../util/get-or-insert.js';
import { type EventChannel, emitWarning } from '../util/platform.js';

/**
 * Published on the channel `rollgate:store:failure` when a store starts to fail, and when a store that returned errors
 * stops responding.
 */
export interface StoreFailure {
  /** The store that failed. */
  readonly store: Store | CountingStore;
  /** The part of the store that failed, such as a node of a Cluster. Empty for a store without parts. */
  readonly part: string;
  /** A `StoreError`, whose `cause` is the error of the store. */
  readonly error: Error;
}

/**
 * Published on the channel `rollgate:store:recovery` at the first reply that comes a second or more after the last failure. If a
 * check has timed out, replies to peeks do not count, because a store may hang only when it writes.
 */
export interface StoreRecovery {
  /** The store that recovered. */
  readonly store: Store | CountingStore;
  /** The part of the store, as in {@link StoreFailure}. */
  readonly part: string;
  /** Milliseconds since the first failure. */
  readonly failedForMs: number;
  /**
   * The number of failed calls. It excludes calls that Rollgate did not send because the store was known to be down.
   */
  readonly failures: number;
}

/** Failures with shorter pauses belong to one outage, so that it is published once. */
const OUTAGE_END_MS = 1000;

const MIN_PROBE_INTERVAL_MS = 250;
const MAX_PROBE_INTERVAL_MS = 8000;

/** A call that may write, one that only reads, or a probe, which only reads, too. */
export type CallEffect = 'writes' | 'reads' | 'probes';

/**
 * The health of a store, or of one of its parts, as seen by the calls of all limiters in this process.
 *
 * - **Down**: a call timed out, and no call was faster since. Calls with the same or a shorter timeout then do not
 *   wait, and probes find out when the store is back. Probes only read. If a call that may write timed out, only a reply
 *   to such a call ends this. After each successful probe, one of them is sent as a trial.
 * - **Failing**: calls fail for any reason. The two channels publish this. Without subscribers, process warnings do.
 */
export class PartHealth {
  /** The clock of the store if it has timers. */
  readonly clock: Timers['clock'];
  /**
   * The longest timeout that passed without a response, and 0 after a faster response. The part is down for calls with such
   * a timeout, or a shorter one. This field and the next one are public, because each call reads them.
   */
  unresponsiveForMs = 0;
  /** When the present outage began. */
  failingSinceMs: number | undefined = undefined;
  /** Whether a call that may write timed out, and none was faster since. */
  #areWritesSilent = false;
  /** Whether the part responds to reads, although it is silent when it writes. */
  #respondsToReads = false;
  #isTrialDue = false;
  /** Whether the present outage includes a timeout, or was published as one. */
  #hasTimedOut = false;
  #publishedMs = 0;
  #failures = 0;
  #lastFailureMs = 0;
  #probeDueMs = 0;
  #probeIntervalMs = MIN_PROBE_INTERVAL_MS;

  constructor(
    private readonly store: Store | CountingStore,
    private readonly part: string,
  ) {
    this.clock = timersOf(store.clock).clock;
  }

  /** The state of the connection, if the store provides it. */
  get connection(): StoreConnection | undefined {
    return this.store.connectionTo?.(this.part);
  }

  /** Whether a call is sent although the part is down. Such a call that may write is the trial. */
  isSentWhileDown(effect: CallEffect): boolean {
    return effect === 'writes' ? this.#isTrialDue : this.#respondsToReads;
  }

  /** Records that such a call was sent. */
  recordTrial(effect: CallEffect): void {
    if (effect === 'writes') this.#isTrialDue = false;
  }

  /** Records the response, however late, to a call that was sent at `sentMs`. */
  recordSuccess(sentMs: number, effect: CallEffect): void {
    if (this.failingSinceMs === undefined) return;
    const nowMs = this.clock.now();
    const isAsSlow = this.unresponsiveForMs > 0 && nowMs - sentMs >= this.unresponsiveForMs;
    if (effect !== 'writes' && this.#areWritesSilent && !isAsSlow) {
      this.#respondsToReads = true;
      this.#isTrialDue ||= effect === 'probes'; // Probes do not become more frequent, because a caller waits for each trial.
      return;
    }
    this.recordProbeReply();
    if (isAsSlow) return;
    this.unresponsiveForMs = 0;
    this.#areWritesSilent = this.#respondsToReads = this.#isTrialDue = false;
    this.#recover(this.failingSinceMs, nowMs);
  }

  /** Records a call that failed. `waitedMs` is its timeout, or 0 if the store returned an error. */
  recordFailure(error: Error, waitedMs: number, effect: CallEffect): void {
    const nowMs = this.clock.now();
    if (waitedMs > 0 && effect === 'writes') this.#areWritesSilent = true;
    else if (waitedMs > 0) this.#respondsToReads = this.#isTrialDue = false;
    // Errors may go on for long. They must not hide that the store has stopped responding.
    const stopsResponding = waitedMs > 0 && !this.#hasTimedOut && nowMs - this.#publishedMs > OUTAGE_END_MS;
    this.#hasTimedOut ||= waitedMs > 0;
    this.unresponsiveForMs = Math.max(this.unresponsiveForMs, waitedMs);
    this.#failures += 1;
    this.#lastFailureMs = nowMs;
    if (this.failingSinceMs !== undefined && !stopsResponding) return;
    this.failingSinceMs ??= nowMs;
    this.#publishedMs = nowMs;
    const failure: StoreFailure = { store: this.store, part: this.part, error };
    const message = `${error.message}. \`onStoreError\` decides the checks until the store recovers`;
    this.#publish(storeFailures, failure, 'ROLLGATE_STORE_FAILED', message);
  }

  /**
   * Returns whether it is time for a probe, and schedules the next one. Probes become rarer the longer a store is down.
   */
  claimProbe(): boolean {
    const nowMs = this.clock.now();
    if (nowMs < this.#probeDueMs) return false;
    this.#probeDueMs = nowMs + this.#probeIntervalMs;
    this.#probeIntervalMs = Math.min(2 * this.#probeIntervalMs, MAX_PROBE_INTERVAL_MS);
    return true;
  }

  /** Records any reply, even a late one or an error. The next probe then comes soon. */
  recordProbeReply(): void {
    this.#probeIntervalMs = MIN_PROBE_INTERVAL_MS;
    this.#probeDueMs = Math.min(this.#probeDueMs, this.clock.now() + MIN_PROBE_INTERVAL_MS);
  }

  #recover(sinceMs: number, nowMs: number): void {
    if (nowMs - this.#lastFailureMs < OUTAGE_END_MS) return;
    const failedForMs = Math.round(nowMs - sinceMs);
    const recovery: StoreRecovery = { store: this.store, part: this.part, failedForMs, failures: this.#failures };
    this.failingSinceMs = undefined;
    this.#hasTimedOut = false;
    this.#failures = 0;
    const message = `The store responds again after ${failedForMs} ms`;
    this.#publish(storeRecoveries, recovery, 'ROLLGATE_STORE_RECOVERED', message);
  }

  /** Publishes an event. Without subscribers, it becomes a process warning. */
  #publish(events: EventChannel, event: StoreFailure | StoreRecovery, code: string, message: string): void {
    const where = this.part === '' ? '' : ` (${this.part})`;
    if (events.hasSubscribers) events.publish(event);
    else emitWarning(message + where, { type: 'RollgateWarning', code });
  }
}

const stores = new WeakMap<Store | CountingStore, StoreHealth>();

/** The health of all parts of a store, and its fallback memory. All limiters of the store in this process share it. */
export class StoreHealth {
  readonly #parts = new Map<string, PartHealth>();
  #fallback: MemoryStore | undefined;

  private constructor(private readonly store: Store | CountingStore) {}

  /** Returns the health of this store. */
  static of(store: Store | CountingStore): StoreHealth {
    return getOrInsert(stores, store, () => new StoreHealth(store));
  }

  /**
   * The memory of this process that decides during an outage, by the store's clock if it has one. Limiters that share
   * keys in the store share them here, too.
   */
  get fallback(): MemoryStore {
    this.#fallback ??= new MemoryStore({ clock: this.store.clock });
    return this.#fallback;
  }

  /** Drops the keys in the fallback memory, if there is one. */
  resetFallback(plan: Plan, keys: Keys): void {
    this.#fallback?.reset(plan, keys);
  }

  /** Returns the health of one part of the store. A store without parts uses an empty name. */
  ofPart(part: string): PartHealth {
    return this.#parts.get(part) ?? getOrInsert(this.#parts, part, () => new PartHealth(this.store, part));
  }
}

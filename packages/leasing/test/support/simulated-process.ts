import { type Clock, type Decision, type ManualClock, rollingWindow } from '@rollgate/core';
import { isThenable, PendingResult, type Plan, readReceipt } from '@rollgate/core/store';
import { LeasingStore } from '@rollgate/leasing';
import type { LeasedReceipt } from '../../src/leased-receipt.js';
import { DelayedStore, type Fate } from './delayed-store.js';
import { takenMs } from './recorded-ms.js';
import type { SimulatedServer } from './simulated-server.js';

/** What a process checks. */
export interface ProcessSettings {
  readonly limit: number;
  readonly windowMs: number;
  readonly leaseMs: number;
  readonly minDecisions: number;
}

/** A process whose clock may run a little fast or slow, and which may stop. What happens meanwhile happens when it continues. */
export class SimulatedProcess {
  readonly remote: DelayedStore;
  readonly #store: LeasingStore;
  readonly #time: ManualClock;
  readonly #clock: Pick<Clock, 'now'>;
  /** For how long a process uses a lease, as `LeasingStore` computes it. */
  readonly #usableMs: number;
  #stoppedUntilMs = 0;
  #plan: Plan;
  readonly #windowMs: number;

  constructor(
    time: ManualClock,
    drift: number,
    { limit, windowMs, leaseMs, minDecisions }: ProcessSettings,
    server: SimulatedServer,
    nextFate: () => Fate,
  ) {
    this.#time = time;
    this.#windowMs = windowMs;
    this.#plan = toPlan(limit, windowMs);
    const clock = {
      now: () => time.now() * drift,
      schedule: (atMs: number, callback: () => void) => {
        const whenRunning = () => this.#whenRunning(callback);
        return time.schedule(atMs / drift, whenRunning);
      },
    };
    this.#clock = clock;
    this.#usableMs = leaseMs * 0.999 - 1;
    this.remote = new DelayedStore(server, time, clock, nextFate, (arrive) => this.#whenRunning(arrive));
    this.#store = new LeasingStore({ store: this.remote, lease: leaseMs, minDecisions });
  }

  get isStopped(): boolean {
    return this.#time.now() < this.#stoppedUntilMs;
  }

  stop(forMs: number): void {
    this.#stoppedUntilMs = Math.max(this.#stoppedUntilMs, this.#time.now() + forMs);
  }

  /** Sets the limit of later checks. */
  setLimit(limit: number): void {
    this.#plan = toPlan(limit, this.#windowMs);
  }

  check(onDecision: (decision: Decision, receipt: LeasedReceipt, atMs: number) => void): void {
    const calledMs = this.#clock.now();
    const decision = this.#store.check(this.#plan, 'key', 1);
    const done = (one: Decision) => {
      const receipt = readReceipt(one) as LeasedReceipt;
      onDecision(one, receipt, this.#isByStore(receipt, calledMs) ? takenMs(receipt) : this.#time.now());
    };
    if (decision instanceof PendingResult) decision.listen({ succeed: done, fail: () => {} });
    else if (isThenable(decision)) decision.then(done, () => {});
    else done(decision);
  }

  refund(receipt: LeasedReceipt): void {
    const refunded = this.#store.refund(receipt);
    if (isThenable(refunded)) refunded.then(undefined, () => {});
  }

  /** The store has decided a check without a lease, and one whose units were requested after it, if their lease is over. */
  #isByStore(receipt: LeasedReceipt | undefined, calledMs: number): boolean {
    const lease = receipt?.spent[0]?.lease;
    if (lease === undefined) return receipt !== undefined;
    const sentMs = lease.untilMs - this.#usableMs;
    return this.#clock.now() >= lease.untilMs && calledMs <= sentMs + 1e-6; // The sum was rounded.
  }

  #whenRunning(callback: () => void): void {
    if (!this.isStopped) callback();
    else if (this.#stoppedUntilMs < Infinity)
      this.#time.schedule(this.#stoppedUntilMs, () => this.#whenRunning(callback));
  }
}

function toPlan(limit: number, windowMs: number): Plan {
  const rolling = rollingWindow({ limit, window: `${windowMs}ms` });
  return { prefix: 'p', rules: [{ name: 'default', limit: rolling, namespace: 'p:default:rolling-window' }] };
}

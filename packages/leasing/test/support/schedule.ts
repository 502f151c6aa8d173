import { type Clock, type Decision, type ManualClock, MemoryStore, manualClock, rollingWindow } from '@rollgate/core';
import { isThenable, PendingResult, type Plan, takeReceipt } from '@rollgate/core/store';
import { LeasingStore } from '@rollgate/leasing';
import type { LeasedReceipt } from '../../src/leased-receipt.js';
import { DelayedStore, type Fate } from './delayed-store.js';
import { mostInWindow, type SpentUnit } from './window-count.js';

/** One random course of events. */
export interface Schedule {
  readonly seed: number;
  readonly limit: number;
  readonly windowMs: number;
  readonly leaseMs: number;
  readonly minDecisions: number;
  readonly processes: number;
  /** The requested units, as a part of the limit. */
  readonly load: number;
  readonly latencyMs: number;
  /** The probability that an operation is lost or repeated. */
  readonly faults: number;
  /** The probability that a process stops for a while, or for good, in a millisecond. */
  readonly stops: number;
  /** The probability of a refund. */
  readonly refunds: number;
  readonly lengthMs: number;
}

/** What a schedule has shown. */
export interface Course {
  readonly allowed: number;
  readonly rejected: number;
  /** The most units in any window, by the times of the decisions. */
  readonly most: number;
  readonly calls: number;
  readonly requested: number;
  /** How many checks a lease has allowed. */
  readonly leased: number;
}

/** Runs a schedule in virtual time. */
export function run(schedule: Schedule): Course {
  return new Run(schedule).result();
}

class Run {
  readonly #schedule: Schedule;
  readonly #time = manualClock();
  readonly #random: () => number;
  readonly #units: SpentUnit[] = [];
  readonly #processes: SimulatedProcess[];
  #requested = 0;
  #rejected = 0;
  #leased = 0;
  #allowed = 0;

  constructor(schedule: Schedule) {
    this.#schedule = schedule;
    this.#random = createRandom(schedule.seed);
    const server = new MemoryStore({ clock: this.#time });
    const nextFate = () => this.#nextFate();
    const { limit, windowMs } = schedule;
    const rolling = rollingWindow({ limit, window: `${windowMs}ms` });
    const plan = { prefix: 'p', rules: [{ name: 'default', limit: rolling, namespace: 'p:default:rolling-window' }] };
    this.#processes = Array.from({ length: schedule.processes }, () => {
      const drift = 1 + (this.#random() - 0.5) * 0.002; // As much as `clockDrift` allows.
      return new SimulatedProcess(this.#time, drift, plan, schedule, server, nextFate);
    });
  }

  result(): Course {
    const { lengthMs, stops, limit, windowMs, load } = this.#schedule;
    const perMs = (limit * load) / windowMs / this.#processes.length;
    for (let ms = 0; ms < lengthMs; ms++) {
      for (const process of this.#processes) {
        if (this.#random() < stops) process.stop(this.#random() < 0.1 ? Infinity : this.#random() * 100);
        for (let units = perMs; units > 0; units--) if (this.#random() < units) this.#check(process);
      }
      this.#time.advance(1);
    }
    const calls = this.#processes.reduce((sum, { remote }) => sum + remote.calls, 0);
    const most = mostInWindow(this.#units, windowMs);
    return {
      leased: this.#leased,
      allowed: this.#allowed,
      rejected: this.#rejected,
      requested: this.#requested,
      most,
      calls,
    };
  }

  #check(process: SimulatedProcess): void {
    if (process.isStopped) return;
    this.#requested += 1;
    process.check((decision, receipt, atMs) => {
      if (!decision.allowed) {
        this.#rejected += 1;
        return;
      }
      this.#allowed += 1;
      if (receipt.spent.length > 0) this.#leased += 1;
      const unit = { atMs, refundedAtMs: Infinity };
      this.#units.push(unit);
      if (this.#random() >= this.#schedule.refunds) return;
      this.#time.schedule(this.#time.now() + this.#random() * 60, () => {
        if (process.isStopped) return;
        unit.refundedAtMs = this.#time.now();
        process.refund(receipt);
      });
    });
  }

  #nextFate(): Fate {
    const { latencyMs, faults } = this.#schedule;
    const isFaulty = this.#random() < faults;
    const kind = isFaulty ? Math.floor(this.#random() * 3) : 3;
    return {
      toServerMs: this.#random() * latencyMs,
      toProcessMs: this.#random() * latencyMs,
      ...(kind === 0 ? { lost: 'before' } : kind === 1 ? { lost: 'after' } : { isRepeated: kind === 2 }),
    };
  }
}

/** A process whose clock may run a little fast or slow, and which may stop. What happens meanwhile happens when it continues. */
class SimulatedProcess {
  readonly remote: DelayedStore;
  readonly #store: LeasingStore;
  readonly #time: ManualClock;
  readonly #plan: Plan;
  readonly #clock: Pick<Clock, 'now'>;
  /** For how long a process uses a lease, as `LeasingStore` computes it. */
  readonly #usableMs: number;
  #stoppedUntilMs = 0;

  constructor(
    time: ManualClock,
    drift: number,
    plan: Plan,
    { leaseMs, minDecisions }: Schedule,
    server: MemoryStore,
    nextFate: () => Fate,
  ) {
    this.#time = time;
    this.#plan = plan;
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

  check(onDecision: (decision: Decision, receipt: LeasedReceipt, atMs: number) => void): void {
    const calledMs = this.#clock.now();
    const decision = this.#store.check(this.#plan, 'key', 1);
    const done = (one: Decision) => {
      const receipt = takeReceipt(one) as LeasedReceipt;
      onDecision(one, receipt, this.#isByStore(receipt, calledMs) ? recordedMs(receipt) : this.#time.now());
    };
    if (decision instanceof PendingResult) decision.listen({ succeed: done, fail: () => {} });
    else if (isThenable(decision)) decision.then(done, () => {});
    else done(decision);
  }

  /** The store has decided a check without a lease, and one whose units were requested after it, if their lease is over. */
  #isByStore(receipt: LeasedReceipt | undefined, calledMs: number): boolean {
    const lease = receipt?.spent[0]?.lease;
    if (lease === undefined) return receipt !== undefined;
    const sentMs = lease.untilMs - this.#usableMs;
    return this.#clock.now() >= lease.untilMs && calledMs <= sentMs;
  }

  refund(receipt: LeasedReceipt): void {
    const refunded = this.#store.refund(receipt);
    if (isThenable(refunded)) refunded.then(undefined, () => {});
  }

  #whenRunning(callback: () => void): void {
    if (!this.isStopped) callback();
    else if (this.#stoppedUntilMs < Infinity)
      this.#time.schedule(this.#stoppedUntilMs, () => this.#whenRunning(callback));
  }
}

function recordedMs({ spent, inner }: LeasedReceipt): number {
  const recorded = (spent[0]?.lease.receipt ?? inner) as {
    readonly hits: readonly { readonly recordedMicros: number }[];
  };
  return recorded.hits[0]!.recordedMicros / 1000;
}

/** A linear congruential generator. */
function createRandom(seed: number): () => number {
  let state = seed % 2 ** 31;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return state / 2 ** 31;
  };
}

import { manualClock } from '@rollgate/core';
import { createRandom } from '@rollgate/test-support/random';
import type { Fate } from './delayed-store.js';
import { takenMs } from './recorded-ms.js';
import { type ProcessSettings, SimulatedProcess } from './simulated-process.js';
import { SimulatedServer } from './simulated-server.js';

/** One random course of events. */
export interface Schedule extends ProcessSettings {
  readonly seed: number;
  readonly processes: number;
  /** The requested units, as a part of the limit. */
  readonly load: number;
  readonly latencyMs: number;
  /** The probability that an operation is lost or repeated, or that its script has to be sent again. */
  readonly faults: number;
  /** The probability that a process stops for a while, or for good, in a step. */
  readonly stops: number;
  /** The probability of a refund. */
  readonly refunds: number;
  /** Whether the server restarts, and whether the limit is halved, once each. */
  readonly restarts: boolean;
  readonly lowers: boolean;
  readonly stepMs: number;
  readonly steps: number;
}

/** What a schedule has shown. */
export interface Course {
  readonly allowed: number;
  readonly rejected: number;
  /** The most units in any window, by the times of the decisions, of those that the server took between two restarts. */
  readonly most: number;
  /** The most units in any window since one lease after the limit was halved. */
  readonly mostLowered: number;
  readonly calls: number;
  readonly requested: number;
  /** How many checks a lease has allowed. */
  readonly leased: number;
}

/** Runs a schedule in virtual time. */
export function run(schedule: Schedule): Course {
  return new Run(schedule).result();
}

/** A unit that a process has spent. */
interface TakenUnit extends SpentUnit {
  /** When the server has recorded it, or the lease that it is of. */
  readonly takenMs: number;
}

class Run {
  readonly #schedule: Schedule;
  readonly #time = manualClock();
  readonly #random: () => number;
  readonly #units: TakenUnit[] = [];
  readonly #server: SimulatedServer;
  readonly #processes: SimulatedProcess[];
  #requested = 0;
  #rejected = 0;
  #leased = 0;

  constructor(schedule: Schedule) {
    this.#schedule = schedule;
    this.#random = createRandom(schedule.seed);
    this.#server = new SimulatedServer(this.#time, schedule.limit);
    const nextFate = () => this.#nextFate();
    this.#processes = Array.from({ length: schedule.processes }, () => {
      const drift = 1 + (this.#random() - 0.5) * 0.002; // As much as `clockDrift` allows.
      return new SimulatedProcess(this.#time, drift, schedule, this.#server, nextFate);
    });
  }

  result(): Course {
    const { steps, stepMs, stops, limit, windowMs, leaseMs, load, restarts, lowers } = this.#schedule;
    const perStep = (limit * load * stepMs) / windowMs / this.#processes.length;
    const [restartAt, lowerAt] = [restarts, lowers].map((does) => (does ? Math.floor(this.#random() * steps) : -1));
    for (let step = 0; step < steps; step++) {
      if (step === restartAt) this.#server.restart();
      if (step === lowerAt) this.#lower();
      for (const process of this.#processes) {
        if (this.#random() < stops) process.stop(this.#random() < 0.1 ? Infinity : this.#random() * 5 * leaseMs);
        for (let units = perStep; units > 0; units--) if (this.#random() < units) this.#check(process);
      }
      this.#time.advance(stepMs);
    }
    return {
      leased: this.#leased,
      allowed: this.#units.length,
      rejected: this.#rejected,
      requested: this.#requested,
      most: this.#most(),
      mostLowered: lowers ? this.#mostSince(this.#server.otherLimitMs + leaseMs) : 0,
      calls: this.#processes.reduce((sum, { remote }) => sum + remote.calls, 0),
    };
  }

  #most(): number {
    const { windowMs } = this.#schedule;
    const isLater = ({ takenMs }: TakenUnit) => takenMs >= this.#server.restartedMs;
    const [later, earlier] = [this.#units.filter(isLater), this.#units.filter((unit) => !isLater(unit))];
    return Math.max(mostInWindow(later, windowMs), mostInWindow(earlier, windowMs));
  }

  /** Without the units of the time before a restart, which the server does not know. */
  #mostSince(ms: number): number {
    const units = this.#units.filter(({ atMs, takenMs }) => atMs > ms && takenMs >= this.#server.restartedMs);
    return mostInWindow(units, this.#schedule.windowMs);
  }

  #lower(): void {
    const limit = this.#schedule.limit / 2;
    this.#server.setLimit(limit);
    for (const process of this.#processes) process.setLimit(limit);
  }

  #check(process: SimulatedProcess): void {
    if (process.isStopped) return;
    this.#requested += 1;
    process.check((decision, receipt, atMs) => {
      if (!decision.allowed) {
        this.#rejected += 1;
        return;
      }
      if (receipt.spent.length > 0) this.#leased += 1;
      const unit = { atMs, takenMs: takenMs(receipt), refundedAtMs: Infinity };
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
    const kind = isFaulty ? Math.floor(this.#random() * 4) : 4;
    const toServerMs = this.#random() * latencyMs;
    return {
      toServerMs: kind === 3 ? 3 * toServerMs : toServerMs, // The server did not have the script, so the client sends it again.
      toProcessMs: this.#random() * latencyMs,
      ...(kind === 0 ? { lost: 'before' } : kind === 1 ? { lost: 'after' } : { isRepeated: kind === 2 }),
    };
  }
}

/** A unit that a check has spent, until a refund. */
interface SpentUnit {
  readonly atMs: number;
  refundedAtMs: number;
}

/** Returns the most units that any window contained. A refunded unit counts until its refund. */
function mostInWindow(units: readonly SpentUnit[], windowMs: number): number {
  const changes = units.flatMap(({ atMs, refundedAtMs }) => [
    { atMs, units: 1 },
    { atMs: Math.min(atMs + windowMs, refundedAtMs), units: -1 },
  ]);
  // A unit at `t` is not in the window that ends at `t + window`.
  changes.sort((one, other) => one.atMs - other.atMs || one.units - other.units);
  let count = 0;
  let most = 0;
  for (const change of changes) {
    count += change.units;
    most = Math.max(most, count);
  }
  return most;
}

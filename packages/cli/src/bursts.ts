import type { Decision } from '@rollgate/core';
import type { Algorithm, NamedQuota } from './limits.js';
import type { Caller, Entry } from './log/entry.js';
import { type ReplayClock, WindowCounter } from './replay.js';

/** The most units that a caller asked for, allowed or not, within one window of a limit, and when that was reached. */
export interface Burst {
  readonly size: number;
  readonly atMicros: number;
}

/** The worst bursts of all callers under one limit. */
export class Bursts {
  readonly #quota: NamedQuota;
  /** A rolling window knows itself what it let through: then only what was refused is counted, which most callers never are. */
  readonly #isRolling: boolean;
  readonly #counter: WindowCounter;
  /** By the callers' places, as the moments. */
  readonly #sizes: number[] = [];
  readonly #micros: number[] = [];

  constructor(algorithm: Algorithm, quota: NamedQuota, clock: ReplayClock) {
    this.#quota = quota;
    this.#isRolling = algorithm === 'rolling';
    this.#counter = new WindowCounter(quota.windowMs, clock);
  }

  /** Notes a request that was decided; `wasRefused` says whether an earlier one of its caller was refused. */
  add(entry: Entry, decision: Decision, wasRefused: boolean): void {
    const { caller, cost, micros } = entry;
    const size = this.#isRolling
      ? this.#letThrough(decision) + this.#refused(entry, decision.allowed, wasRefused)
      : this.#counter.add(caller.key, cost);
    if (size <= (this.#sizes[caller.index] ?? 0)) return;
    this.#sizes[caller.index] = size;
    this.#micros[caller.index] = micros;
  }

  of({ index }: Caller): Burst {
    return { size: this.#sizes[index]!, atMicros: this.#micros[index]! };
  }

  #letThrough(decision: Decision): number {
    return this.#quota.limit - decision.limits[this.#quota.name]!.remaining;
  }

  #refused({ caller, cost }: Entry, isAllowed: boolean, wasRefused: boolean): number {
    if (!isAllowed) return this.#counter.add(caller.key, cost);
    return wasRefused ? this.#counter.count(caller.key) : 0;
  }
}

import type { Decision } from '@rollgate/core';
import type { Algorithm, NamedQuota } from './algorithms.js';
import type { Caller, Entry } from './log/entry.js';
import { type ReplayClock, WindowCounter } from './replay.js';

/** The most units that a caller requested within one window of a limit, allowed or not, and when it reached them. */
export interface Burst {
  readonly size: number;
  readonly atMicros: number;
}

/** The worst bursts of all callers under one limit. */
export class Bursts {
  readonly #quota: NamedQuota;
  /** A rolling window knows what it allowed. Then only rejected units are counted, and most callers have none. */
  readonly #isRolling: boolean;
  readonly #isOnly: boolean;
  readonly #counter: WindowCounter;
  /** By the caller's index, like the times below. */
  readonly #sizes: number[] = [];
  readonly #micros: number[] = [];
  #heaviest: Caller | undefined;
  #highest = 0;

  /** @param isOnly Whether the limiter has no other limit. */
  constructor(algorithm: Algorithm, quota: NamedQuota, clock: ReplayClock, isOnly: boolean) {
    this.#quota = quota;
    this.#isOnly = isOnly;
    this.#isRolling = algorithm === 'rolling' && quota.periods === undefined;
    this.#counter = new WindowCounter(quota, clock);
  }

  /** Records a decided request. `wasRejected` is true if an earlier request of its caller was rejected. */
  add(entry: Entry, decision: Decision, wasRejected: boolean): void {
    const { caller, cost, micros } = entry;
    const size = this.#isRolling
      ? this.#allowedUnits(decision) + this.#rejected(entry, decision.allowed, wasRejected)
      : this.#counter.add(caller.key, cost);
    if (size <= (this.#sizes[caller.index] ?? 0)) return;
    this.#sizes[caller.index] = size;
    this.#micros[caller.index] = micros;
    if (size <= this.#highest) return;
    this.#highest = size;
    this.#heaviest = caller;
  }

  /** The caller with the worst burst of all. */
  get heaviest(): { readonly key: string; readonly size: number } {
    return { key: this.#heaviest!.key, size: this.#highest };
  }

  of({ index }: Caller): Burst {
    return { size: this.#sizes[index]!, atMicros: this.#micros[index]! };
  }

  #allowedUnits(decision: Decision): number {
    const { limit, name } = this.#quota;
    // A decision creates the details of its limits only when they are read.
    return limit - (this.#isOnly ? decision.remaining : decision.limits[name]!.remaining);
  }

  #rejected({ caller, cost }: Entry, isAllowed: boolean, wasRejected: boolean): number {
    if (!isAllowed) return this.#counter.add(caller.key, cost);
    return wasRejected ? this.#counter.count(caller.key) : 0;
  }
}

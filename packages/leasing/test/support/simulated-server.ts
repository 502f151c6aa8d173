import { type Decision, type ManualClock, MemoryStore } from '@rollgate/core';
import type { Costs, Keys, Plan, SettledCosts } from '@rollgate/core/store';
import { recordedMs } from './recorded-ms.js';

/** A server that forgets everything when it restarts. */
export class SimulatedServer {
  /** When the server has restarted last, and when it last took units under another limit than the present one. */
  restartedMs = -Infinity;
  otherLimitMs = -Infinity;
  readonly #clock: ManualClock;
  #store: MemoryStore;
  #limit: number;

  constructor(clock: ManualClock, limit: number) {
    this.#clock = clock;
    this.#store = new MemoryStore({ clock });
    this.#limit = limit;
  }

  restart(): void {
    this.#store = new MemoryStore({ clock: this.#clock });
    this.restartedMs = this.#clock.now();
  }

  /** Notes the limit of all later requests. Some that are under way may have another one. */
  setLimit(limit: number): void {
    this.#limit = limit;
    this.otherLimitMs = this.#clock.now();
  }

  check(plan: Plan, keys: Keys, costs: Costs): Decision {
    if (plan.rules[0]!.limit.limit !== this.#limit) this.otherLimitMs = this.#clock.now();
    return this.#store.check(plan, keys, costs);
  }

  peek(plan: Plan, keys: Keys, costs: Costs): Decision {
    return this.#store.peek(plan, keys, costs);
  }

  charge(plan: Plan, keys: Keys, costs: Costs): Decision {
    return this.#store.charge(plan, keys, costs);
  }

  /** A restart leaves nothing to settle. */
  settle(receipt: unknown, costs: SettledCosts): void {
    if (recordedMs(receipt) >= this.restartedMs) this.#store.settle(receipt, costs);
  }

  reset(plan: Plan, keys: Keys): void {
    this.#store.reset(plan, keys);
  }
}

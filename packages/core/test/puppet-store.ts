import { MemoryStore, type Store } from '@rollgate/core';
import type { Costs, Keys, Plan, SettledCosts } from '@rollgate/core/store';

/** A store that responds, rejects or stays silent, as `mode` demands. `resolvePending` settles the silent calls. */
export class PuppetStore implements Store {
  mode: 'respond' | 'silence' | { readonly rejection: unknown } = 'respond';
  readonly calls: string[] = [];
  readonly #memory = new MemoryStore();
  readonly #pending: (() => void)[] = [];

  check(plan: Plan, keys: Keys, cost: number) {
    return this.#reply('check', () => this.#memory.check(plan, keys, cost));
  }
  peek(plan: Plan, keys: Keys, cost: number) {
    return this.#reply('peek', () => this.#memory.peek(plan, keys, cost));
  }
  settle(receipt: unknown, costs: SettledCosts) {
    return this.#reply('settle', () => this.#memory.settle(receipt, costs));
  }
  charge(plan: Plan, keys: Keys, costs: Costs) {
    return this.#reply('charge', () => this.#memory.charge(plan, keys, costs));
  }
  refund(receipt: unknown) {
    return this.#reply('refund', () => this.#memory.refund(receipt));
  }
  reset(plan: Plan, keys: Keys) {
    return this.#reply('reset', () => this.#memory.reset(plan, keys));
  }

  resolvePending(): void {
    for (const resolve of this.#pending.splice(0)) resolve();
  }

  #reply<Result>(method: string, work: () => Result): Promise<Result> {
    this.calls.push(method);
    const { mode } = this;
    if (mode === 'respond') return Promise.resolve(work());
    if (mode !== 'silence') return Promise.reject(mode.rejection);
    return new Promise((resolve) => this.#pending.push(() => resolve(work())));
  }
}

import { MemoryStore, type Store } from '@rollgate/core';
import type { Keys, Plan } from '@rollgate/core/store';

/** A store that answers, rejects or is silent as the test says; what it was silent on it answers when it is told to. */
export class PuppetStore implements Store {
  manner: 'answer' | 'silence' | { readonly rejection: unknown } = 'answer';
  readonly asked: string[] = [];
  readonly #memory = new MemoryStore();
  readonly #owed: (() => void)[] = [];

  check(plan: Plan, keys: Keys, cost: number) {
    return this.#reply('check', () => this.#memory.check(plan, keys, cost));
  }
  peek(plan: Plan, keys: Keys, cost: number) {
    return this.#reply('peek', () => this.#memory.peek(plan, keys, cost));
  }
  refund(receipt: unknown) {
    return this.#reply('refund', () => this.#memory.refund(receipt));
  }
  reset(plan: Plan, keys: Keys) {
    return this.#reply('reset', () => this.#memory.reset(plan, keys));
  }

  answerWhatIsOwed(): void {
    for (const answer of this.#owed.splice(0)) answer();
  }

  #reply<Answer>(method: string, work: () => Answer): Promise<Answer> {
    this.asked.push(method);
    const { manner } = this;
    if (manner === 'answer') return Promise.resolve(work());
    if (manner !== 'silence') return Promise.reject(manner.rejection);
    return new Promise((resolve) => this.#owed.push(() => resolve(work())));
  }
}

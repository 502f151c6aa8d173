import type { Attempt, Next, State, Update } from '../shared/protocol.js';
import { isRetained, LONGEST_SHOWN_MS, MAX_ATTEMPTS } from '../shared/retention.js';
import { DEFAULT_SETTINGS } from '../shared/settings.js';

/** What the page knows: what the server told last, and the attempts that can still be seen. */
export class Model {
  state: State = { settings: DEFAULT_SETTINGS, countedFromMs: 0 };
  next: Next | undefined;
  allowed = 0;
  rejected = 0;
  /** By time. */
  attempts: Attempt[] = [];

  take({ state, next, allowed, rejected, isWhole, attempts, nowMs }: Update): void {
    Object.assign(this, { state, next, allowed, rejected });
    if (isWhole) this.attempts = [];
    for (const attempt of attempts) this.#insert(attempt);
    const firstSeen = this.firstAfter(nowMs - LONGEST_SHOWN_MS);
    if (firstSeen > 0) this.attempts = this.attempts.slice(firstSeen);
    this.#dropRejected(this.attempts.length - MAX_ATTEMPTS);
  }

  /** The index of the first attempt that came after this moment. */
  firstAfter(momentMs: number): number {
    let low = 0;
    let high = this.attempts.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.attempts[middle]!.atMs > momentMs) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  /** The oldest, as the server does: so all pages show the same, whenever they were opened. */
  #dropRejected(count: number): void {
    let left = count;
    if (left > 0) this.attempts = this.attempts.filter((attempt) => isRetained(attempt) || left-- <= 0);
  }

  /** Those of several servers come almost in order. */
  #insert(attempt: Attempt): void {
    const { attempts } = this;
    let index = attempts.length;
    while (index > 0 && attempts[index - 1]!.atMs > attempt.atMs) index -= 1;
    if (index === attempts.length) attempts.push(attempt);
    else attempts.splice(index, 0, attempt);
  }
}

import { BOUNDS, DEFAULT_SETTINGS, WINDOWS_SHOWN } from '../shared/settings.js';
import type { Attempt, Next, State, Update } from '../shared/wire.js';

const LONGEST_SHOWN_MS = BOUNDS.windowMs.most * WINDOWS_SHOWN;

/** What the page knows: what the server told last, and the attempts that can still be seen. */
export class Model {
  state: State = { settings: DEFAULT_SETTINGS, countedFromMs: 0 };
  next: Next | undefined;
  letThrough = 0;
  refused = 0;
  /** By time. */
  attempts: Attempt[] = [];

  take({ state, next, letThrough, refused, isWhole, attempts, nowMs }: Update): void {
    Object.assign(this, { state, next, letThrough, refused });
    if (isWhole) this.attempts = [];
    for (const attempt of attempts) this.#insert(attempt);
    const firstSeen = this.firstAfter(nowMs - LONGEST_SHOWN_MS);
    if (firstSeen > 0) this.attempts = this.attempts.slice(firstSeen);
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

  /** Those of several servers come almost in order. */
  #insert(attempt: Attempt): void {
    const { attempts } = this;
    let index = attempts.length;
    while (index > 0 && attempts[index - 1]!.atMs > attempt.atMs) index -= 1;
    if (index === attempts.length) attempts.push(attempt);
    else attempts.splice(index, 0, attempt);
  }
}

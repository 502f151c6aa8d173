import { performance } from '../base/platform.js';

/** For how long queues that had callers probably still have some. */
const MEMORY_MS = 1000;
/** For how many checks with other keys to remember that. */
const MAX_CHECKS = 1000;

/**
 * The checks that have found callers in their queues. A check looks whether callers wait before it runs the code of the queues,
 * because that takes longer. If it finds callers, it takes a second call, so the next check with the same queues skips the first.
 */
export class BusyQueues {
  /** By the keys of the queues. */
  readonly #endsMs = new Map<string, number>();

  note(queueKeys: readonly string[]): void {
    if (this.#endsMs.size >= MAX_CHECKS) this.#endsMs.clear();
    this.#endsMs.set(queueKeys.join(' '), performance.now() + MEMORY_MS);
  }

  has(queueKeys: readonly string[]): boolean {
    if (this.#endsMs.size === 0) return false;
    const endMs = this.#endsMs.get(queueKeys.join(' '));
    return endMs !== undefined && endMs > performance.now();
  }
}

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
  #lastEndMs = -Infinity;

  note(queueKeys: readonly string[]): void {
    if (this.#endsMs.size >= MAX_CHECKS) this.#endsMs.clear();
    this.#lastEndMs = performance.now() + MEMORY_MS;
    this.#endsMs.set(queueKeys.join(' '), this.#lastEndMs);
  }

  /** A check was allowed, so probably no callers wait any more. */
  forget(queueKeys: readonly string[]): void {
    this.#endsMs.delete(queueKeys.join(' '));
  }

  has(queueKeys: readonly string[]): boolean {
    if (this.#endsMs.size === 0) return false;
    const nowMs = performance.now();
    // As long as callers wait nowhere, a check does not even look.
    if (nowMs >= this.#lastEndMs) this.#endsMs.clear();
    const endMs = this.#endsMs.get(queueKeys.join(' '));
    return endMs !== undefined && endMs > nowMs;
  }
}

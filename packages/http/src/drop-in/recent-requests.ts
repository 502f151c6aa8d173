import type { Decision } from '@rollgate/core';
import { getOrInsert } from '@rollgate/core/store';

interface Recorded {
  readonly decision: Decision;
  readonly atMs: number;
}

interface Requests {
  /** The allowed ones, from the oldest on. */
  readonly allowed: Recorded[];
  /** How many rejected ones the limiter will take back as failures. They are not recorded anywhere. */
  rejected: number;
}

/** With this many keys, a new generation starts early. Two generations of keys with one request each take 14 MB. */
const MOST_KEYS = 10_000;

/**
 * The requests of a window that a limiter may take back, by key. It names only the key. A rejected request comes
 * first, because that frees nothing. Otherwise it is the oldest one, so that the window frees no later one too early.
 *
 * Older requests cannot be refunded. They are dropped in two generations of one window each, which needs no timer. A flood
 * of keys drops them earlier.
 */
export class RecentRequests {
  #newer = new Map<string, Requests>();
  #older = new Map<string, Requests>();
  #sinceMs: number;

  /**
   * @param now Returns the time in milliseconds.
   * @param takesRejectionsBack Whether rejected requests count as failures, which are taken back.
   */
  constructor(
    private readonly windowMs: number,
    private readonly now: () => number,
    private readonly takesRejectionsBack: boolean,
  ) {
    this.#sinceMs = now();
  }

  add(key: string, decision: Decision): void {
    const atMs = this.#rotate();
    const requests = getOrInsert(this.#newer, key, () => ({ allowed: [], rejected: 0 }));
    if (decision.allowed) requests.allowed.push({ decision, atMs });
    else if (this.takesRejectionsBack) requests.rejected += 1;
  }

  /** Takes a request back. Returns its decision if there is something to refund. */
  take(key: string): Decision | undefined {
    const nowMs = this.#rotate();
    const ofKey = [this.#older.get(key), this.#newer.get(key)].filter((requests) => requests !== undefined);
    const rejected = ofKey.find((requests) => requests.rejected > 0);
    if (rejected !== undefined) {
      rejected.rejected -= 1;
      return undefined;
    }
    for (const { allowed } of ofKey) {
      // A refund of a request that has left the window would free nothing.
      while (allowed.length > 0 && nowMs - allowed[0]!.atMs >= this.windowMs) allowed.shift();
      if (allowed.length > 0) return allowed.shift()!.decision;
    }
    return undefined;
  }

  /** Forgets the requests of a key, whose state was deleted. */
  forget(key: string): void {
    this.#older.delete(key);
    this.#newer.delete(key);
  }

  /** Starts a new generation if it is time. Returns the time. */
  #rotate(): number {
    const nowMs = this.now();
    const ageMs = nowMs - this.#sinceMs;
    if (ageMs < this.windowMs && this.#newer.size < MOST_KEYS) return nowMs;
    this.#older = ageMs < 2 * this.windowMs ? this.#newer : new Map();
    this.#newer = new Map();
    this.#sinceMs = nowMs;
    return nowMs;
  }
}

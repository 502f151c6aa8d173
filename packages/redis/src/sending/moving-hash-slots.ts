import { performance } from '../base/platform.js';

/** For how long a hash slot counts as moving after it was seen to move. */
const MOVING_FOR_MS = 10_000;
const MAX_TAGS = 1000;

/** The hash slots of a Cluster that were seen to move, by the hash tags of keys in them. */
export class MovingHashSlots {
  readonly #untilMs = new Map<string, number>();

  note(hashTag: string): void {
    if (this.#untilMs.size >= MAX_TAGS) this.#untilMs.clear();
    this.#untilMs.set(hashTag, performance.now() + MOVING_FOR_MS);
  }

  has(hashTag: string): boolean {
    const untilMs = this.#untilMs.get(hashTag);
    if (untilMs === undefined) return false;
    if (performance.now() < untilMs) return true;
    this.#untilMs.delete(hashTag);
    return false;
  }
}

/** Whether a Cluster redirected the script because a hash slot moves, or its client gave up after too many redirections. */
export function isRedirection(error: unknown): boolean {
  return error instanceof Error && /^(TRYAGAIN|ASK|MOVED|Too many Cluster redirections)/.test(error.message);
}

/**
 * Whether an operation failed because an earlier one of its script has deleted a key whose hash slot moves. The node cannot
 * create the key again, and rejects the first command that uses it. So the operation has changed nothing.
 */
export function hasLostKey({ message }: Error): boolean {
  return message.includes('non local key');
}

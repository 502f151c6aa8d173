import { performance } from '../util/platform.js';

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

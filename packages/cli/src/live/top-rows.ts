import type { LimitRow } from './limit-row.js';

/** A key among those that have used the most. */
export interface TopRow extends LimitRow {
  readonly key: string;
  readonly isHashed: boolean;
}

/** The rows with the largest shares of those that were added, in bounded memory. */
export class TopRows {
  readonly #max: number;
  /** At most twice as many as wanted, so that sorting them is rare. */
  #rows = new Map<string, TopRow>();
  /** No row with a lower rank can be among the wanted ones. */
  #least: TopRow | undefined;

  constructor(max: number) {
    this.#max = max;
  }

  /** Whether a row with this share may be among the largest ones. Most rows of a large system need not be created. */
  mayKeep(share: number): boolean {
    return this.#least === undefined || share >= this.#least.share;
  }

  /** Adds a row, or replaces the one of the same key and limit. */
  add(row: TopRow): void {
    if (this.#least !== undefined && compare(this.#least, row) < 0) return;
    this.#rows.set(JSON.stringify([row.limiter, row.limit, row.key]), row);
    if (this.#rows.size < 2 * this.#max) return;
    const kept = [...this.#rows].sort(([, one], [, other]) => compare(one, other)).slice(0, this.#max);
    this.#rows = new Map(kept);
    this.#least = kept.at(-1)?.[1];
  }

  /** The largest ones, largest first. */
  sorted(): TopRow[] {
    return [...this.#rows.values()].sort(compare).slice(0, this.#max);
  }
}

/** Orders by the used share, and then by the used units. */
function compare(one: TopRow, other: TopRow): number {
  return other.share - one.share || (other.used ?? 0) - (one.used ?? 0) || (one.key < other.key ? -1 : 1);
}

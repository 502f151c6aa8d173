import { LONGEST_SHOWN_MS, MOST_ATTEMPTS, mustBeKept } from '../shared/keeping.js';
import type { Attempt, Records, State, Totals } from '../shared/wire.js';

/** What has happened, as all servers on one store tell each other. */
export type News =
  | { readonly kind: 'attempt'; readonly attempt: Attempt }
  /** Who was held until its turn has left before. */
  | { readonly kind: 'left'; readonly id: string }
  /** How many attempts there were already, those included that nobody has any more. */
  | { readonly kind: 'totals'; readonly totals: Totals }
  /** `forgets`: the attempts so far are forgotten. */
  | { readonly kind: 'state'; readonly state: State; readonly forgets: boolean };

const NONE: Totals = { letThrough: 0, refused: 0 };

/** The server's own record: the state, the last attempts, and how many there were in all. */
export class RecordBook {
  #state: State;
  #totals: Totals = NONE;
  readonly #kept = new Map<string, Attempt>();
  readonly #refused = new Map<string, Attempt>();
  readonly #listeners = new Set<(news: News) => void>();

  constructor(state: State) {
    this.#state = state;
  }

  get state(): State {
    return this.#state;
  }

  get totals(): Totals {
    return this.#totals;
  }

  /** All that is kept, by time. */
  get records(): Records {
    const attempts = [...this.#kept.values(), ...this.#refused.values()].sort((a, b) => a.atMs - b.atMs);
    return { state: this.#state, ...this.#totals, attempts };
  }

  /** Calls `listener` after each piece of news. */
  listen(listener: (news: News) => void): void {
    this.#listeners.add(listener);
  }

  /** Takes down what has happened; news that come twice count once. */
  hear(news: News): void {
    if (news.kind === 'state') this.#change(news.state, news.forgets);
    else if (news.kind === 'totals') this.#totals = news.totals;
    else if (news.kind === 'left') this.#leave(news.id);
    else if (this.#kept.has(news.attempt.id) || this.#refused.has(news.attempt.id)) return;
    else this.#add(news.attempt);
    for (const listener of this.#listeners) listener(news);
  }

  #change(state: State, forgets: boolean): void {
    this.#state = state;
    if (!forgets) return;
    this.#kept.clear();
    this.#refused.clear();
    this.#totals = NONE;
  }

  #add(attempt: Attempt): void {
    (mustBeKept(attempt) ? this.#kept : this.#refused).set(attempt.id, attempt);
    this.#count(attempt, 1);
    if (this.#kept.size + this.#refused.size > MOST_ATTEMPTS) this.#dropOne(attempt.atMs);
  }

  #leave(id: string): void {
    const attempt = this.#kept.get(id);
    if (attempt === undefined) return;
    this.#kept.delete(id);
    this.#count(attempt, -1);
  }

  #count({ allowed }: Attempt, by: number): void {
    const { letThrough, refused } = this.#totals;
    this.#totals = allowed ? { letThrough: letThrough + by, refused } : { letThrough, refused: refused + by };
  }

  /** The oldest of the refused, for the others still count; these only when nobody sees them any more. */
  #dropOne(nowMs: number): void {
    const [kept] = this.#kept.values();
    const [refused] = this.#refused.values();
    if (kept !== undefined && kept.atMs < nowMs - LONGEST_SHOWN_MS) this.#kept.delete(kept.id);
    else if (refused !== undefined) this.#refused.delete(refused.id);
  }
}

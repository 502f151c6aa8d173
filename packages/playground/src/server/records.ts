import type { Attempt, Records, State, Totals } from '../shared/protocol.js';
import { isRetained, LONGEST_SHOWN_MS, MAX_ATTEMPTS } from '../shared/retention.js';

/** An event that all servers on one store share. */
export type News =
  | { readonly kind: 'attempt'; readonly attempt: Attempt }
  /** A delayed request was aborted before its slot. */
  | { readonly kind: 'left'; readonly id: string }
  /** The totals so far, including attempts that no server keeps. */
  | { readonly kind: 'totals'; readonly totals: Totals }
  /** New settings. `forgets` deletes the attempts so far. */
  | { readonly kind: 'state'; readonly state: State; readonly forgets: boolean };

const NONE: Totals = { allowed: 0, rejected: 0 };

/** The server's record: the state, the latest attempts and the totals. */
export class RecordBook {
  #state: State;
  #totals: Totals = NONE;
  readonly #kept = new Map<string, Attempt>();
  readonly #rejected = new Map<string, Attempt>();
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

  /** All kept attempts, sorted by time. */
  get records(): Records {
    const attempts = [...this.#kept.values(), ...this.#rejected.values()].sort((a, b) => a.atMs - b.atMs);
    return { state: this.#state, ...this.#totals, attempts };
  }

  /** Calls `listener` after each event. */
  listen(listener: (news: News) => void): void {
    this.#listeners.add(listener);
  }

  /** Records an event. A repeated event counts once. */
  hear(news: News): void {
    if (news.kind === 'state') this.#change(news.state, news.forgets);
    else if (news.kind === 'totals') this.#totals = news.totals;
    else if (news.kind === 'left') this.#leave(news.id);
    else if (this.#kept.has(news.attempt.id) || this.#rejected.has(news.attempt.id)) return;
    else this.#add(news.attempt);
    for (const listener of this.#listeners) listener(news);
  }

  #change(state: State, forgets: boolean): void {
    this.#state = state;
    if (!forgets) return;
    this.#kept.clear();
    this.#rejected.clear();
    this.#totals = NONE;
  }

  #add(attempt: Attempt): void {
    (isRetained(attempt) ? this.#kept : this.#rejected).set(attempt.id, attempt);
    this.#count(attempt, 1);
    if (this.#kept.size + this.#rejected.size > MAX_ATTEMPTS) this.#dropOne(attempt.atMs);
  }

  #leave(id: string): void {
    const attempt = this.#kept.get(id);
    if (attempt === undefined) return;
    this.#kept.delete(id);
    this.#count(attempt, -1);
  }

  #count(attempt: Attempt, by: number): void {
    const { allowed, rejected } = this.#totals;
    this.#totals = attempt.allowed ? { allowed: allowed + by, rejected } : { allowed, rejected: rejected + by };
  }

  /** Drops the oldest rejected attempt, because allowed ones still count until no page shows them. */
  #dropOne(nowMs: number): void {
    const [kept] = this.#kept.values();
    const [rejected] = this.#rejected.values();
    if (kept !== undefined && kept.atMs < nowMs - LONGEST_SHOWN_MS) this.#kept.delete(kept.id);
    else if (rejected !== undefined) this.#rejected.delete(rejected.id);
  }
}

import type { Attempt, Records, State, Totals } from '../shared/wire.js';

/** How many attempts a server keeps. */
export const MOST_ATTEMPTS = 20_000;

/** What has happened, as all servers on one store tell each other. */
export type News =
  | { readonly kind: 'attempt'; readonly attempt: Attempt }
  /** Who was held until its turn has left before. */
  | { readonly kind: 'left'; readonly id: string }
  /** `forgets`: the attempts so far are forgotten. */
  | { readonly kind: 'state'; readonly state: State; readonly forgets: boolean };

/** The server's own record: the state, and the last attempts in the order of their coming. */
export class RecordBook {
  #state: State;
  readonly #attempts = new Map<string, Attempt>();
  #letThrough = 0;
  readonly #listeners = new Set<(news: News) => void>();

  constructor(state: State) {
    this.#state = state;
  }

  get state(): State {
    return this.#state;
  }

  get totals(): Totals {
    return { letThrough: this.#letThrough, refused: this.#attempts.size - this.#letThrough };
  }

  /** All that is kept. */
  get records(): Records {
    return { state: this.#state, ...this.totals, attempts: [...this.#attempts.values()] };
  }

  /** Calls `listener` after each piece of news. */
  listen(listener: (news: News) => void): void {
    this.#listeners.add(listener);
  }

  /** Takes down what has happened; news that come twice count once. */
  hear(news: News): void {
    if (news.kind === 'state') this.#change(news.state, news.forgets);
    else if (news.kind === 'left') this.#drop(this.#attempts.get(news.id));
    else if (this.#attempts.has(news.attempt.id)) return;
    else this.#add(news.attempt);
    for (const listener of this.#listeners) listener(news);
  }

  #change(state: State, forgets: boolean): void {
    this.#state = state;
    if (!forgets) return;
    this.#attempts.clear();
    this.#letThrough = 0;
  }

  #add(attempt: Attempt): void {
    this.#attempts.set(attempt.id, attempt);
    if (attempt.allowed) this.#letThrough += 1;
    const [oldest] = this.#attempts.values();
    if (this.#attempts.size > MOST_ATTEMPTS) this.#drop(oldest);
  }

  #drop(attempt: Attempt | undefined): void {
    if (attempt === undefined) return;
    this.#attempts.delete(attempt.id);
    if (attempt.allowed) this.#letThrough -= 1;
  }
}

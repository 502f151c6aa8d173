import type { Attempt, Next, Records, State, Totals } from '../shared/protocol.js';
import { isRetained, LONGEST_SHOWN_MS, MAX_ATTEMPTS } from '../shared/retention.js';
import type { Algorithm, RowName } from '../shared/settings.js';
import { FirstRequestRow } from './first-request-row.js';

/** An event that all engines on one store share. Each of them adds the rows that no store decides. */
export type SharedEvent<Name extends RowName = Algorithm> =
  | { readonly kind: 'attempt'; readonly attempt: Attempt<Name> }
  /** A delayed request was aborted before its start. */
  | { readonly kind: 'aborted'; readonly id: string }
  /** The totals so far, including attempts that no engine keeps. */
  | { readonly kind: 'totals'; readonly totals: Totals }
  /** New settings. `clears` deletes the attempts so far. */
  | { readonly kind: 'state'; readonly state: State; readonly clears: boolean };

const NONE: Totals = { allowed: 0, rejected: 0 };

/** What the engine keeps: the state, the latest attempts and the totals. */
export class AttemptLog {
  #state: State;
  #totals: Totals = NONE;
  readonly #kept = new Map<string, Attempt>();
  readonly #rejected = new Map<string, Attempt>();
  readonly #subscribers = new Set<(event: SharedEvent<RowName>) => void>();
  readonly #firstRequestRow = new FirstRequestRow();
  #lastMs = -Infinity;

  constructor(state: State) {
    this.#state = state;
  }

  get state(): State {
    return this.#state;
  }

  get totals(): Totals {
    return this.#totals;
  }

  get isEmpty(): boolean {
    return this.#kept.size + this.#rejected.size === 0;
  }

  /** The time of the newest attempt since the last reset. */
  get lastMs(): number {
    return this.#lastMs;
  }

  /** All kept attempts, sorted by time. */
  get records(): Records {
    const attempts = [...this.#kept.values(), ...this.#rejected.values()].sort((a, b) => a.atMs - b.atMs);
    return { state: this.#state, ...this.#totals, attempts };
  }

  /** Returns when each row that no store decides would allow the next request. */
  async next(nowMs: number): Promise<Readonly<Record<Exclude<RowName, Algorithm>, Next>>> {
    return { first: await this.#firstRequestRow.next(this.#state, nowMs) };
  }

  /** Calls `subscriber` after each event. */
  subscribe(subscriber: (event: SharedEvent<RowName>) => void): void {
    this.#subscribers.add(subscriber);
  }

  /** Records an event. A repeated event counts once. */
  record(event: SharedEvent): void {
    if (event.kind !== 'attempt') this.#apply(event);
    else if (this.#kept.has(event.attempt.id) || this.#rejected.has(event.attempt.id)) return;
    else {
      const attempt = this.#firstRequestRow.decide(event.attempt);
      this.#add(attempt);
      this.#publish({ kind: 'attempt', attempt });
    }
  }

  #apply(event: Exclude<SharedEvent, { kind: 'attempt' }>): void {
    if (event.kind === 'state') this.#change(event.state, event.clears);
    else if (event.kind === 'totals') this.#totals = event.totals;
    else this.#removeAborted(event.id);
    this.#publish(event);
  }

  #publish(event: SharedEvent<RowName>): void {
    for (const subscriber of this.#subscribers) subscriber(event);
  }

  #change(state: State, clears: boolean): void {
    this.#state = state;
    if (!clears) return;
    this.#kept.clear();
    this.#rejected.clear();
    this.#totals = NONE;
    this.#lastMs = -Infinity;
  }

  #add(attempt: Attempt): void {
    (isRetained(attempt) ? this.#kept : this.#rejected).set(attempt.id, attempt);
    this.#count(attempt, 1);
    this.#lastMs = Math.max(this.#lastMs, attempt.atMs);
    if (this.#kept.size + this.#rejected.size > MAX_ATTEMPTS) this.#dropOne(attempt.atMs);
  }

  #removeAborted(id: string): void {
    const attempt = this.#kept.get(id);
    if (attempt === undefined) return;
    this.#kept.delete(id);
    this.#firstRequestRow.refund(attempt);
    this.#count(attempt, -1);
  }

  #count(attempt: Attempt, change: number): void {
    const { allowed, rejected } = this.#totals;
    this.#totals = attempt.allowed ? { allowed: allowed + change, rejected } : { allowed, rejected: rejected + change };
  }

  /** Drops the oldest rejected attempt, because allowed ones still count until no page shows them. */
  #dropOne(nowMs: number): void {
    const [kept] = this.#kept.values();
    const [rejected] = this.#rejected.values();
    if (kept !== undefined && kept.atMs < nowMs - LONGEST_SHOWN_MS) this.#kept.delete(kept.id);
    else if (rejected !== undefined) this.#rejected.delete(rejected.id);
  }
}

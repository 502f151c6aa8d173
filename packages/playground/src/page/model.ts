import type { Attempt, LastResponse, Next, RunState, State, StoreKind, Update } from '../shared/protocol.js';
import { isRetained, LONGEST_SHOWN_MS, MAX_ATTEMPTS } from '../shared/retention.js';
import { DEFAULT_SETTINGS, type RowName, type Scenario } from '../shared/settings.js';
import { RowHistory } from './row-history.js';

/** The engine's last state, and the attempts that are still visible. */
export class Model {
  state: State = { settings: DEFAULT_SETTINGS, countedFromMs: 0, changedMs: 0 };
  store: StoreKind = 'memory';
  next: Readonly<Record<RowName, Next>> | undefined;
  run: RunState | undefined;
  response: LastResponse | undefined;
  hasUserActed = false;
  allowed = 0;
  rejected = 0;
  /** Sorted by time. */
  attempts: Attempt[] = [];
  /**
   * The run that brackets describe: the one that is running, or the one that sent the newest request. That of another
   * server is known only by its requests.
   */
  describedRun: string | undefined;
  readonly #rows = new Map<RowName, RowHistory>();
  readonly #firstScenario: Scenario;

  /** @param firstScenario The scenario that the page is about until one runs. */
  constructor(firstScenario: Scenario = 'boundary') {
    this.#firstScenario = firstScenario;
  }

  /** The fixed window that the current scenario attacks. */
  get attacked(): 'fixed' | 'first' {
    return (this.run?.scenario ?? this.#firstScenario) === 'first' ? 'first' : 'fixed';
  }

  apply({ attempts, isWhole, nowMs, ...rest }: Update): void {
    Object.assign(this, { next: undefined, run: undefined, response: undefined }, rest);
    if (isWhole) this.attempts = [];
    for (const attempt of attempts) this.#insert(attempt);
    const firstSeen = this.#firstAfter(nowMs - LONGEST_SHOWN_MS);
    if (firstSeen > 0) this.attempts = this.attempts.slice(firstSeen);
    this.#dropRejected(this.attempts.length - MAX_ATTEMPTS);
    if (isWhole || attempts.length > 0 || firstSeen > 0) this.#rows.clear();
    const lastOfRun = this.attempts.findLast(({ run }) => run !== undefined);
    this.describedRun = this.run?.status === 'running' ? this.run.id : lastOfRun?.run;
  }

  /** Whether there are attempts that no longer count. */
  get hasOld(): boolean {
    const [oldest] = this.attempts;
    return oldest !== undefined && oldest.countedFromMs < this.state.countedFromMs;
  }

  /** What a row decided, computed once per update. */
  row(name: RowName): RowHistory {
    let row = this.#rows.get(name);
    if (row === undefined) {
      row = new RowHistory(name, this.attempts);
      this.#rows.set(name, row);
    }
    return row;
  }

  /** The index of the first attempt that came after this moment. */
  #firstAfter(momentMs: number): number {
    let low = 0;
    let high = this.attempts.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.attempts[middle]!.atMs > momentMs) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  /** Drops the oldest rejected attempts, as the engine does, so that all pages show the same. */
  #dropRejected(count: number): void {
    let left = count;
    if (left > 0) this.attempts = this.attempts.filter((attempt) => isRetained(attempt) || left-- <= 0);
  }

  /** Inserts an attempt by its time. Those of several servers arrive almost in order. */
  #insert(attempt: Attempt): void {
    const { attempts } = this;
    let index = attempts.length;
    while (index > 0 && attempts[index - 1]!.atMs > attempt.atMs) index -= 1;
    if (index === attempts.length) attempts.push(attempt);
    else attempts.splice(index, 0, attempt);
  }
}

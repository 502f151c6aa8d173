import * as counts from './bucket-counts.js';
import type { State, StateLifecycle } from './limit.js';

/** The number of the state that holds the subject's expiry if nothing is added until then. The counts follow it. */
const EXPIRES = 0;

/** A state as an operation has it. */
type CounterState = State & { readonly isNew: boolean };

/** The states of one operation. */
interface CounterStates {
  readonly nowMicros: number;
  find(owner: CounterAlgorithm['owner'], key: string): CounterState;
  begin(state: CounterState, owner: CounterAlgorithm['owner'], key: string): void;
  save(state: CounterState, expiresMicros: number): void;
}

/**
 * The algorithm of a `RollingCounter`, the counterpart of a limit. It is immutable and holds no counts: each method
 * depends on its arguments alone.
 */
export class CounterAlgorithm implements StateLifecycle {
  readonly algorithm = 'rolling-counter';
  /** The namespace of its subjects. No limit's name starts with `#`, so it never meets a limit's namespace. */
  readonly namespace: string;
  readonly keepMicros: number;
  readonly stateSize = counts.SIZE_FOR_ONE;
  /** Whose states its subjects are. */
  readonly owner: {
    /** The namespace of the counter. */
    readonly namespace: string;
    /** The counter itself. */
    readonly limit: CounterAlgorithm;
  };

  constructor(
    /** The prefix of the counter. */
    readonly prefix: string,
    /** The length of a bucket. */
    readonly widthMicros: number,
    /** The longest interval that can be counted. */
    readonly spanMicros: number,
    /** How long a subject is kept after its last addition. */
    readonly expiryMicros: number,
  ) {
    this.namespace = `${prefix}:#count`;
    this.keepMicros = expiryMicros;
    this.owner = { namespace: this.namespace, limit: this };
    Object.freeze(this);
  }

  create(state: State): void {
    counts.create(state);
    state.numbers[state.start + EXPIRES] = -Infinity;
  }

  expiresMicros({ numbers, start }: State): number {
    return numbers[start + EXPIRES]!;
  }

  isPlausible(state: State, nowMicros: number): boolean {
    return counts.newestStart(state) - nowMicros <= this.expiryMicros;
  }

  isIntact(state: State): boolean {
    return counts.areIntact(state);
  }

  describe(state: State): unknown {
    return { counts: counts.describe(state), expiresMicros: this.expiresMicros(state) };
  }

  /**
   * Adds units to a subject, unless they are 0, and returns its count. A store calls this, so that a program without counters
   * contains none of it.
   */
  countIn(states: CounterStates, subject: string, units: number, intervalMicros: number): number {
    const state = states.find(this.owner, subject);
    if (state.isNew && units === 0) return 0;
    if (state.isNew) states.begin(state, this.owner, subject);
    if (units > 0) {
      const latestMicros = Math.max(states.nowMicros, counts.newestStart(state));
      counts.dropUntil(state, latestMicros - this.spanMicros);
      counts.setWidth(state, counts.widthFor(state, this.widthMicros, this.spanMicros), latestMicros);
      counts.addUnits(state, latestMicros, units);
      state.numbers[state.start + EXPIRES] = latestMicros + this.expiryMicros;
      states.save(state, this.expiresMicros(state));
    }
    // All buckets that overlap the last `intervalMicros` count.
    return counts.unitsAfter(state, Math.max(states.nowMicros, counts.newestStart(state)) - intervalMicros);
  }
}

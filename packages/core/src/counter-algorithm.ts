import { BucketCounts } from './limits/bucket-counts.js';
import type { StateLifecycle } from './limits/limit.js';

/** What is known of one subject. */
export interface CounterState {
  readonly counts: BucketCounts;
  /** When it is idle for so long that it is forgotten. */
  expiresMicros: number;
}

/** The steps of a `RollingCounter`, as those of a limit: immutable, and a function of their arguments alone. */
export class CounterAlgorithm implements StateLifecycle<CounterState> {
  readonly algorithm = 'rolling-counter';
  /** Where its subjects live: no limit's name begins like that. */
  readonly namespace: string;
  readonly keepMicros: number;

  constructor(
    readonly prefix: string,
    /** Of a bucket. */
    readonly widthMicros: number,
    /** The longest interval that can be asked for. */
    readonly spanMicros: number,
    /** How long a subject is kept that nothing is added to. */
    readonly expiryMicros: number,
  ) {
    this.namespace = `${prefix}:#count`;
    this.keepMicros = expiryMicros;
    Object.freeze(this);
  }

  create(): CounterState {
    return { counts: new BucketCounts(), expiresMicros: -Infinity };
  }

  expiresMicros({ expiresMicros }: CounterState): number {
    return expiresMicros;
  }

  isPlausible({ counts }: CounterState, nowMicros: number): boolean {
    return counts.newestStartMicros - nowMicros <= this.expiryMicros;
  }

  /** The units of the buckets of which some part lies in the last `intervalMicros`. */
  count({ counts }: CounterState, nowMicros: number, intervalMicros: number): number {
    return counts.unitsAfter(Math.max(nowMicros, counts.newestStartMicros) - intervalMicros);
  }

  add(state: CounterState, nowMicros: number, units: number): void {
    const { counts } = state;
    const latestMicros = Math.max(nowMicros, counts.newestStartMicros);
    counts.drop(latestMicros - this.spanMicros);
    counts.resize(counts.widthFor(this.widthMicros, this.spanMicros), latestMicros);
    counts.add(latestMicros, units);
    state.expiresMicros = latestMicros + this.expiryMicros;
  }
}

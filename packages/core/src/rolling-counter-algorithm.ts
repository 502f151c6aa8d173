import { BucketCounts } from './limits/bucket-counts.js';
import type { StateLifecycle } from './limits/limit.js';

/** The counts of one subject. */
export interface CounterState {
  readonly counts: BucketCounts;
  /** When the subject expires if nothing is added until then. */
  expiresMicros: number;
}

/**
 * The algorithm of a `RollingCounter`, the counterpart of a limit. It is immutable and holds no counts: each method
 * depends on its arguments alone.
 */
export class CounterAlgorithm implements StateLifecycle<CounterState> {
  readonly algorithm = 'rolling-counter';
  /** The namespace of its subjects. No limit's name starts with `#`, so it never meets a limit's namespace. */
  readonly namespace: string;
  readonly keepMicros: number;

  constructor(
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

  /** The units of all buckets that overlap the last `intervalMicros`. */
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

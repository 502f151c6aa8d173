/** Counts per interval of time. */
export interface Timeline<Name extends string = string> {
  /** The start of the first interval, in microseconds since the epoch. */
  readonly startMicros: number;
  readonly widthMicros: number;
  /** By the name of the series. All have the same length. */
  readonly series: Readonly<Record<Name, readonly number[]>>;
}

/** Interval widths that are easy to read, in seconds. */
const WIDTHS = [1, 5, 10, 30, 60, 300, 600, 1800, 3600, 3 * 3600, 6 * 3600, 12 * 3600, 24 * 3600, 7 * 24 * 3600];

const MAX_INTERVALS = 240;

/** Counts along a log of unknown length. As the log grows, the intervals widen and their number stays limited. */
export class TimelineCounter<Name extends string> {
  readonly #names: readonly Name[];
  #counts: number[][];
  #widthIndex = 0;
  #startMicros = Number.NaN;

  constructor(names: readonly Name[]) {
    this.#names = names;
    this.#counts = names.map(() => []);
  }

  /** Returns the index of the interval that contains a time, and adds intervals up to it. Times never decrease. */
  intervalAt(micros: number): number {
    if (Number.isNaN(this.#startMicros)) this.#startMicros = this.#floor(micros);
    let interval = this.#intervalOf(micros);
    while (interval >= MAX_INTERVALS) {
      this.#widen();
      interval = this.#intervalOf(micros);
    }
    const counts = this.#counts;
    for (let length = counts[0]!.length; length <= interval; length++) for (const series of counts) series.push(0);
    return interval;
  }

  /** Adds one to the series with this index, in the interval that `intervalAt` returned. */
  count(series: number, interval: number): void {
    this.#counts[series]![interval]! += 1;
  }

  result(): Timeline<Name> {
    return {
      startMicros: this.#startMicros,
      widthMicros: this.#widthMicros,
      series: Object.fromEntries(this.#names.map((name, index) => [name, this.#counts[index]!])) as Record<
        Name,
        number[]
      >,
    };
  }

  get #widthMicros(): number {
    const last = WIDTHS.length - 1;
    // For logs of more than four years, the last width doubles as often as necessary.
    const seconds =
      this.#widthIndex <= last ? WIDTHS[this.#widthIndex]! : WIDTHS[last]! * 2 ** (this.#widthIndex - last);
    return seconds * 1e6;
  }

  #floor(micros: number): number {
    return micros - (micros % this.#widthMicros);
  }

  #intervalOf(micros: number): number {
    return Math.floor((micros - this.#startMicros) / this.#widthMicros);
  }

  /** Moves the counts into intervals of the next width. */
  #widen(): void {
    const [start, width] = [this.#startMicros, this.#widthMicros];
    this.#widthIndex += 1;
    this.#startMicros = this.#floor(start);
    this.#counts = this.#counts.map((series) => {
      const wider: number[] = [];
      series.forEach((count, index) => {
        const interval = this.#intervalOf(start + index * width);
        wider[interval] = (wider[interval] ?? 0) + count;
      });
      return Array.from(wider, (count) => count ?? 0);
    });
  }
}

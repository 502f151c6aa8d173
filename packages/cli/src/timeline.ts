/** How often something happened, by stretches of time of one length. */
export interface Timeline<Name extends string = string> {
  /** Microseconds since the epoch: the start of the first stretch. */
  readonly startMicros: number;
  readonly widthMicros: number;
  /** By the series' names, all of one length. */
  readonly series: Readonly<Record<Name, readonly number[]>>;
}

/** Widths that people read as one: in seconds. */
const WIDTHS = [1, 5, 10, 30, 60, 300, 600, 1800, 3600, 3 * 3600, 6 * 3600, 12 * 3600, 24 * 3600, 7 * 24 * 3600];

const MOST_STRETCHES = 240;

/** Counts along a log whose length nobody knows yet: as it grows, the stretches do, and their number stays. */
export class TimelineCounter<Name extends string> {
  readonly #names: readonly Name[];
  #counts: number[][];
  #widthIndex = 0;
  #startMicros = Number.NaN;

  constructor(names: readonly Name[]) {
    this.#names = names;
    this.#counts = names.map(() => []);
  }

  /** Makes room for a time; times never decrease. Says in which stretch it lies. */
  at(micros: number): number {
    if (Number.isNaN(this.#startMicros)) this.#startMicros = this.#floor(micros);
    let place = this.#placeOf(micros);
    while (place >= MOST_STRETCHES) {
      this.#widen();
      place = this.#placeOf(micros);
    }
    const counts = this.#counts;
    for (let length = counts[0]!.length; length <= place; length++) for (const series of counts) series.push(0);
    return place;
  }

  /** Counts one in the series with this index, in the stretch that `at` said. */
  count(series: number, place: number): void {
    this.#counts[series]![place]! += 1;
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
    // A log of more than four years: doubled as often as it takes.
    const seconds =
      this.#widthIndex <= last ? WIDTHS[this.#widthIndex]! : WIDTHS[last]! * 2 ** (this.#widthIndex - last);
    return seconds * 1e6;
  }

  #floor(micros: number): number {
    return micros - (micros % this.#widthMicros);
  }

  #placeOf(micros: number): number {
    return Math.floor((micros - this.#startMicros) / this.#widthMicros);
  }

  /** Puts what was counted into the stretches of the next width. */
  #widen(): void {
    const [start, width] = [this.#startMicros, this.#widthMicros];
    this.#widthIndex += 1;
    this.#startMicros = this.#floor(start);
    this.#counts = this.#counts.map((series) => {
      const wider: number[] = [];
      series.forEach((count, index) => {
        const place = this.#placeOf(start + index * width);
        wider[place] = (wider[place] ?? 0) + count;
      });
      return Array.from(wider, (count) => count ?? 0);
    });
  }
}

import { WINDOW_MICROS } from '../limits.js';
import { inWindowOfEach } from '../trial.js';
import { ROWS } from './rows.js';
import { END_SECONDS, LIMIT, TRAFFIC, type Traffic } from './traffic.js';

export const BIN_SECONDS = 4;

/** What a bar represents. */
export const SHOWN = ['requested', 'allowed', 'allowed beyond 60 in a minute'] as const;

/** Requests in one bin of one cell of the picture. */
export interface Bar {
  readonly row: string;
  readonly traffic: string;
  readonly shown: (typeof SHOWN)[number];
  readonly from: number;
  readonly to: number;
  readonly requests: number;
}

/** The result of one row for one traffic. */
export interface Cell {
  readonly row: string;
  readonly traffic: string;
  /** The most requests that started in any rolling minute. */
  readonly most: number;
}

/** Runs every row on every traffic. */
export function runAll(): { bars: Bar[]; cells: Cell[] } {
  const bars: Bar[] = [];
  const cells: Cell[] = [];
  for (const { name: row, startTimes: startTimesOf } of ROWS) {
    for (const traffic of TRAFFIC) {
      const startTimes = startTimesOf(traffic.times);
      const inMinute = inWindowOfEach(startTimes, WINDOW_MICROS);
      const [requested, within, beyond] = SHOWN;
      bars.push(
        ...toBars(row, traffic, requested, traffic.times),
        ...toBars(
          row,
          traffic,
          within,
          startTimes.filter((_, index) => inMinute[index]! <= LIMIT),
        ),
        ...toBars(
          row,
          traffic,
          beyond,
          startTimes.filter((_, index) => inMinute[index]! > LIMIT),
        ),
      );
      cells.push({ row, traffic: traffic.title, most: Math.max(0, ...inMinute) });
    }
  }
  return { bars, cells };
}

function toBars(row: string, { title }: Traffic, shown: Bar['shown'], micros: readonly number[]): Bar[] {
  const counts = new Map<number, number>();
  for (const time of micros) {
    const bin = Math.floor(time / 1e6 / BIN_SECONDS);
    counts.set(bin, (counts.get(bin) ?? 0) + 1);
  }
  return [...counts]
    .map(([bin, requests]) => ({
      row,
      traffic: title,
      shown,
      from: bin * BIN_SECONDS,
      to: (bin + 1) * BIN_SECONDS,
      requests,
    }))
    .filter(({ to }) => to <= END_SECONDS);
}

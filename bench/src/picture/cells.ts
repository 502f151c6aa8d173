import { ALGORITHMS, type Algorithm, perMinute, WINDOW_MICROS } from '../limits.js';
import { inWindowOfEach, startTimesOf } from '../trial.js';
import { END_SECONDS, LIMIT, TRAFFIC, type Traffic } from './traffic.js';

export const BIN_SECONDS = 4;

/** What a bar represents. */
export const SHOWN = ['asked for', 'let through', 'let through beyond 60 in a minute'] as const;

/** Requests in one bin of one cell of the picture. */
export interface Bar {
  readonly algorithm: Algorithm;
  readonly traffic: string;
  readonly shown: (typeof SHOWN)[number];
  readonly from: number;
  readonly to: number;
  readonly requests: number;
}

/** The result of one algorithm for one traffic. */
export interface Cell {
  readonly algorithm: Algorithm;
  readonly traffic: string;
  /** The most requests that started in any rolling minute. */
  readonly most: number;
}

/** Runs every algorithm on every traffic. */
export function runAll(): { bars: Bar[]; cells: Cell[] } {
  const bars: Bar[] = [];
  const cells: Cell[] = [];
  for (const algorithm of ALGORITHMS) {
    for (const traffic of TRAFFIC) {
      const startTimes = startTimesOf(perMinute(algorithm, LIMIT), traffic.times);
      const inMinute = inWindowOfEach(startTimes, WINDOW_MICROS);
      const [asked, within, beyond] = SHOWN;
      bars.push(
        ...toBars(algorithm, traffic, asked, traffic.times),
        ...toBars(
          algorithm,
          traffic,
          within,
          startTimes.filter((_, index) => inMinute[index]! <= LIMIT),
        ),
        ...toBars(
          algorithm,
          traffic,
          beyond,
          startTimes.filter((_, index) => inMinute[index]! > LIMIT),
        ),
      );
      cells.push({ algorithm, traffic: traffic.title, most: Math.max(0, ...inMinute) });
    }
  }
  return { bars, cells };
}

function toBars(algorithm: Algorithm, { title }: Traffic, shown: Bar['shown'], micros: readonly number[]): Bar[] {
  const counts = new Map<number, number>();
  for (const time of micros) {
    const bin = Math.floor(time / 1e6 / BIN_SECONDS);
    counts.set(bin, (counts.get(bin) ?? 0) + 1);
  }
  return [...counts]
    .map(([bin, requests]) => ({
      algorithm,
      traffic: title,
      shown,
      from: bin * BIN_SECONDS,
      to: (bin + 1) * BIN_SECONDS,
      requests,
    }))
    .filter(({ to }) => to <= END_SECONDS);
}

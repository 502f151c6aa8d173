// Only comparisons need this window, so no package exports it.
import { createExpressWindow } from '@rollgate/playground/dist/race.js';
import { type Algorithm, createLimit, WINDOW_MS } from '../limits.js';
import { startTimesOf } from '../trial.js';
import { LIMIT } from './traffic.js';

export interface PictureRow {
  readonly name: string;
  /** What matters for the choice of it. */
  readonly note: string;
  /** Returns when the allowed requests start, in microseconds. */
  readonly startTimes: (micros: readonly number[]) => number[];
}

const ofAlgorithm = (name: Algorithm, note: string): PictureRow => ({
  name,
  note,
  startTimes: (micros) => startTimesOf(createLimit(name, LIMIT), micros),
});

export const ROWS: readonly PictureRow[] = [
  ofAlgorithm('rollingWindow', 'exact, because it keeps the time of every request'),
  ofAlgorithm('bucketedWindow', 'never above the limit; frees room up to a second late'),
  ofAlgorithm('slidingWindowCounter', 'an estimate by two counters, as if requests came evenly'),
  ofAlgorithm('fixedWindow', 'one counter, which restarts from 0 at the start of every minute'),
  {
    name: 'first-request window',
    note: 'the counter of express-rate-limit, which starts from 0 with a request; not in Rollgate',
    startTimes: (micros) => {
      const { decide } = createExpressWindow({ limit: LIMIT, windowMs: WINDOW_MS });
      return micros.filter((time) => decide(time / 1000) !== null);
    },
  },
  ofAlgorithm('tokenBucket', '60 at once after a pause, and one more each second'),
  ofAlgorithm('leakyBucket', 'a queue of 60, of which one starts each second'),
];

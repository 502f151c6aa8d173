import type { Limit } from '@rollgate/core';
// Only comparisons need this limit, so no package exports it.
import { firstRequestWindow } from '@rollgate/playground/dist/engine/first-request-window.js';
import { type Algorithm, perMinute, WINDOW_MS } from '../limits.js';
import { LIMIT } from './traffic.js';

/** What the picture compares. */
export interface PictureRow {
  readonly name: string;
  /** What matters for the choice of it. */
  readonly note: string;
  readonly limit: Limit;
}

const ofAlgorithm = (name: Algorithm, note: string): PictureRow => ({ name, note, limit: perMinute(name, LIMIT) });

export const ROWS: readonly PictureRow[] = [
  ofAlgorithm('rollingWindow', 'exact, because it keeps the time of every request'),
  ofAlgorithm('bucketedWindow', 'never above the limit; frees room up to a second late'),
  ofAlgorithm('slidingWindowCounter', 'an estimate by two counters, as if requests came evenly'),
  ofAlgorithm('fixedWindow', 'one counter, which restarts from 0 at the start of every minute'),
  {
    name: 'first-request window',
    note: 'the counter of express-rate-limit, which starts from 0 with a request; not in Rollgate',
    limit: firstRequestWindow({ limit: LIMIT, window: WINDOW_MS }),
  },
  ofAlgorithm('tokenBucket', '60 at once after a pause, and one more each second'),
  ofAlgorithm('leakyBucket', 'a queue of 60, of which one starts each second'),
];

import type { AlgorithmName } from '../algorithms.js';
import { blockVectors } from './block.js';
import { bucketedWindowVectors } from './bucketed-window.js';
import { calendarWindowVectors } from './calendar-window.js';
import { concurrencyVectors } from './concurrency.js';
import { fixedWindowVectors } from './fixed-window.js';
import { leakyBucketVectors } from './leaky-bucket.js';
import { reportedQuotaVectors } from './reported-quota.js';
import { rollingWindowVectors } from './rolling-window.js';
import { slidingWindowCounterVectors } from './sliding-window-counter.js';
import { tokenBucketVectors } from './token-bucket.js';
import type { Vector } from './vector.js';

/** Histories of each algorithm, and what is to be decided in them, as data. */
export const vectors: { readonly [Name in AlgorithmName]: readonly Vector<Name>[] } = {
  rollingWindow: rollingWindowVectors,
  fixedWindow: fixedWindowVectors,
  slidingWindowCounter: slidingWindowCounterVectors,
  tokenBucket: tokenBucketVectors,
  leakyBucket: leakyBucketVectors,
  bucketedWindow: bucketedWindowVectors,
  calendarWindow: calendarWindowVectors,
  block: blockVectors,
  reportedQuota: reportedQuotaVectors,
  concurrency: concurrencyVectors,
};

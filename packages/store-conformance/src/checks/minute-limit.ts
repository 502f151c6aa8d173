import type { LimitSpec, QuotaName } from '../algorithms.js';

/** A limit of this algorithm and quota whose units stay used for at least a minute. */
export function minuteLimit(algorithm: QuotaName, quota: number): LimitSpec {
  const limit = { limit: quota, window: 60_000 };
  const specs: { [Name in QuotaName]: LimitSpec<Name> } = {
    rollingWindow: { algorithm: 'rollingWindow', options: limit },
    fixedWindow: { algorithm: 'fixedWindow', options: limit },
    slidingWindowCounter: { algorithm: 'slidingWindowCounter', options: limit },
    tokenBucket: { algorithm: 'tokenBucket', options: { capacity: quota, refill: 1, every: 60_000 } },
    leakyBucket: { algorithm: 'leakyBucket', options: { capacity: quota, interval: 60_000 } },
    bucketedWindow: { algorithm: 'bucketedWindow', options: limit },
    calendarWindow: { algorithm: 'calendarWindow', options: { limit: quota, lengths: [600_000] } },
    concurrency: { algorithm: 'concurrency', options: { limit: quota, lease: 60_000, retryAfter: 1000 } },
  };
  return specs[algorithm];
}

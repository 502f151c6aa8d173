import { newestEnd, takeUnits, unitsAfter } from '../limits/bucket-counts.js';
import { COUNT } from '../limits/fixed-window.js';
import { removeNewest } from '../limits/hit-log.js';
import type { Limit, State } from '../limits/limit.js';
import { mulDivUp } from '../limits/mul-div.js';
import { CURRENT, PREVIOUS } from '../limits/sliding-window-counter.js';
import { FULL, LATEST, PARTS, REFUNDED, type TokenBucket } from '../limits/token-bucket.js';

/** Gives up to `units` recorded units of a state back, the newest first. */
export type GiveBack = (state: State, nowMicros: number, units: number) => void;

/** By the algorithm, for limits whose units are interchangeable or in order. */
const BY_ALGORITHM: Readonly<Record<string, (...credit: [...Parameters<GiveBack>, limit: Limit]) => unknown>> = {
  'rolling-window': (state, _, units) => removeNewest(state, units),
  'fixed-window': (state, _, units) => take(state, COUNT, units),
  'sliding-window-counter': (state, _, units) => take(state, PREVIOUS, take(state, CURRENT, units)),
  'bucketed-window': giveBackOfBuckets,
  'token-bucket': returnTokens,
};

/**
 * Returns how to give units of the limit back, or `undefined` if it has none to give back.
 *
 * @param isBeyond Whether units that exceed those are added to the present period.
 */
export function giveBackOf(limit: Limit, isBeyond: boolean): GiveBack | undefined {
  if (limit.extend) return isBeyond ? (...credit) => limit.extend!(...credit) : giveBackOfPeriod(limit);
  const giveBack = isBeyond ? undefined : BY_ALGORITHM[limit.algorithm];
  return giveBack && ((...credit) => void giveBack(...credit, limit));
}

/** Takes up to `units` from a count of a state. Returns how many are left to take. */
function take({ numbers, start }: State, index: number, units: number): number {
  const taken = Math.min(units, numbers[start + index]!);
  numbers[start + index]! -= taken;
  return units - taken;
}

function giveBackOfBuckets(state: State, _nowMicros: number, units: number): void {
  const recorded = unitsAfter(state, -Infinity);
  const kept = Math.max(0, recorded - units);
  for (let left = recorded; left > kept; left = unitsAfter(state, -Infinity)) {
    takeUnits(state, newestEnd(state), left - kept);
  }
}

/** Fills the bucket by so many of the tokens that are missing, up to now or the latest action after a clock step back. */
function returnTokens(state: State, nowMicros: number, units: number, limit: Limit): void {
  const { tokens, micros } = limit as TokenBucket;
  const { numbers, start } = state;
  const latestMicros = Math.max(nowMicros, numbers[start + LATEST]!);
  const parts = Math.min(numbers[start + PARTS]!, tokens - 1);
  const untilFull = numbers[start + FULL]! - latestMicros;
  if (untilFull < 0 || untilFull + parts === 0) return;
  if (units < mulDivUp(untilFull, tokens, micros, parts)) {
    const atMicros = latestMicros + numbers[start + REFUNDED]!;
    limit.refund(state, nowMicros, { atMicros, recordedMicros: latestMicros, cost: units }, 0);
    return;
  }
  numbers[start + REFUNDED]! += untilFull + (parts > 0 ? 1 : 0);
  numbers[start + FULL] = latestMicros;
  numbers[start + PARTS] = 0;
}

/** The units of a period are interchangeable. Those of reservations stay, because their holders settle them. */
function giveBackOfPeriod(limit: Limit): GiveBack {
  return (state, nowMicros, units) => {
    const cost = Math.min(units, limit.usageOf!(state, nowMicros).spent);
    limit.refund(state, nowMicros, { atMicros: nowMicros, recordedMicros: nowMicros, cost }, 0);
  };
}

import { HEAD, LIFE } from './block-head.js';
import type { Decision } from './decision.js';
import type { KeyTable } from './key-table.js';
import { DROPPED, FIRST, HITS, NEWEST, RETENTION, RING } from './limits/hit-ring.js';
import { RollingWindow } from './limits/rolling-window.js';
import type { Rule } from './plan.js';
import { RecordedHit } from './recorded-hit.js';
import { SingleDecision } from './single-decision.js';
import { type Chunk, offsetOf } from './slab.js';

/** How many hits may leave the window in one usual check. The general check finds the first of many faster. */
const MOST_DROPPED = 4;

/** The figures of the last check, in microseconds from now. The fractions make V8 reserve room for any number. */
const figures = { remaining: 0.5, waitMicros: 0.5, resetMicros: 0.5 };

/**
 * Decides the usual check of a `MemoryStore`: a cost of 1 and one rolling window without special options. The log has
 * only its own hits, and its ring need not move. Returns `undefined` for any other check, and has then changed nothing.
 *
 * It does what `test` and `record` of the limit do, but in one function, so V8 compiles it without calls. A call
 * would allocate an object for each time that it passes. The general check takes about twice as long.
 */
export function checkUsual(table: KeyTable, rule: Rule, key: string, nowMicros: number): Decision | undefined {
  const { limit, name, namespace } = rule;
  if (!(limit instanceof RollingWindow) || !limit.isUsual) return undefined;
  const address = table.addressOf(namespace, key);
  if (address === undefined) return undefined;
  const chunk = table.slab.chunkOf(address);
  const offset = offsetOf(address);
  const allowed = decide(limit, chunk, offset, nowMicros);
  if (allowed === undefined) return undefined;
  const { remaining, waitMicros, resetMicros } = figures;
  const waitMs = waitMicros / 1000;
  const resetMs = resetMicros / 1000;
  const receipt = allowed
    ? new RecordedHit(table, rule, key, chunk.numbers[offset + LIFE]!, nowMicros, nowMicros, 1, undefined)
    : undefined;
  return new SingleDecision(name, allowed, limit.limit, remaining, waitMs, resetMs, 0, 'limit', false, receipt);
}

/** Decides on the block at `offset`, and records if it allows the check. `hit-ring.ts` describes the numbers. */
function decide(
  { limit, windowMicros }: RollingWindow,
  { numbers, blockSize }: Chunk,
  offset: number,
  nowMicros: number,
): boolean | undefined {
  const state = offset + HEAD;
  const startMicros = nowMicros - windowMicros;
  const newestMicros = numbers[state + NEWEST]!;
  // Another limit recorded last, a cost was not 1, the clock stepped back, or the log has expired.
  if (numbers[state + RETENTION] !== windowMicros || numbers[state + DROPPED] !== -1) return undefined;
  if (newestMicros > nowMicros || newestMicros <= startMicros) return undefined;

  const ring = state + RING;
  const capacity = blockSize - HEAD - RING;
  const hits = numbers[state + HITS]!;
  let left = hits;
  let first = numbers[state + FIRST]!;
  while (numbers[ring + first]! <= startMicros) {
    if (hits - left === MOST_DROPPED) return undefined;
    left -= 1; // The newest hit is in the window, so one is left.
    first = first + 1 === capacity ? 0 : first + 1;
  }
  if (left > limit) return undefined; // An overdraft, or a larger limit with the same window uses the key, too.
  if (left === limit) {
    figures.remaining = 0;
    figures.waitMicros = numbers[ring + first]! - startMicros;
    figures.resetMicros = newestMicros - startMicros;
    return false;
  }
  if (left === capacity || (left < hits && 8 * left < capacity)) return undefined; // The ring moves.
  const place = first + left;
  numbers[place < capacity ? ring + place : ring + place - capacity] = nowMicros;
  numbers[state + NEWEST] = nowMicros;
  numbers[state + HITS] = left + 1;
  numbers[state + FIRST] = first;
  figures.remaining = limit - left - 1;
  figures.waitMicros = 0;
  figures.resetMicros = windowMicros;
  return true;
}

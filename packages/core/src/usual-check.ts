import { HEAD, LIFE } from './block-head.js';
import type { Decision, LimitDecision } from './decision.js';
import type { KeyTable } from './key-table.js';
import * as log from './limits/hit-ring.js';
import type { Limit } from './limits/limit.js';
import type { Rule } from './plan.js';
import { RecordedHit } from './recorded-hit.js';
import { SingleDecision } from './single-decision.js';
import { type Chunk, offsetOf } from './slab.js';

/** How many hits may leave the window in one usual check. The general check finds the first of many faster. */
const MOST_DROPPED = 4;

// Where the numbers of the log are in a block. V8 inlines short functions only, and imported names make them longer.
const RETENTION = HEAD + log.RETENTION;
const DROPPED = HEAD + log.DROPPED;
const HITS = HEAD + log.HITS;
const FIRST = HEAD + log.FIRST;
const NEWEST = HEAD + log.NEWEST;
const RING = HEAD + log.RING;

/** The result of the last check, filled in again by each. The fractions make V8 reserve room for any number. */
const result: Mutable<LimitDecision> = {
  allowed: true,
  limit: 0,
  remaining: 0,
  retryAfterMs: 0.5,
  resetMs: 0.5,
  delayMs: 0,
  reason: 'limit', // Of a rejection. An allowed decision ignores it.
};

type Mutable<Value> = { -readonly [Name in keyof Value]: Value[Name] };

/**
 * Decides the usual check of a `MemoryStore`: a cost of 1 and one rolling window without special options. The log has
 * only its own hits, and its ring need not move. Returns `undefined` for any other check, and has then changed nothing.
 *
 * It does what `test` and `record` of the limit do, but in one function, so V8 compiles it without calls. A call
 * would allocate an object for each time that it passes. The general check takes about twice as long.
 */
export function checkUsual(table: KeyTable, rule: Rule, key: string, nowMicros: number): Decision | undefined {
  const { limit, name, namespace } = rule;
  if (!limit.isUsual) return undefined;
  const address = table.addressOf(namespace, key);
  if (address === undefined) return undefined;
  const chunk = table.slab.chunkOf(address);
  const offset = offsetOf(address);
  const allowed = decide(limit, chunk, offset, nowMicros);
  if (allowed === undefined) return undefined;
  result.allowed = allowed;
  result.limit = limit.limit;
  if (!allowed) return new SingleDecision(name, result, undefined);
  result.retryAfterMs = 0;
  result.resetMs = limit.windowMicros / 1000;
  const life = chunk.numbers[offset + LIFE]!;
  return new SingleDecision(name, result, new RecordedHit(table, rule, key, life, nowMicros, nowMicros, 1, undefined));
}

/**
 * Decides on the block at `offset`, and records if it allows the check. `hit-ring.ts` describes the numbers. Fills in the
 * figures, except for those that follow from the limit. Returns `undefined` if the check is not usual.
 */
function decide({ limit, windowMicros }: Limit, chunk: Chunk, offset: number, nowMicros: number): boolean | undefined {
  const { numbers, blockSize } = chunk;
  const startMicros = nowMicros - windowMicros;
  const newestMicros = numbers[offset + NEWEST]!;
  // Another limit recorded last, a cost was not 1, the clock stepped back, or the log has expired.
  if (numbers[offset + RETENTION] !== windowMicros || numbers[offset + DROPPED] !== -1) return undefined;
  if (newestMicros > nowMicros || newestMicros <= startMicros) return undefined;

  const ring = offset + RING;
  const capacity = blockSize - RING;
  const hits = numbers[offset + HITS]!;
  let left = hits;
  let first = numbers[offset + FIRST]!;
  while (numbers[ring + first]! <= startMicros) {
    if (hits - left === MOST_DROPPED) return undefined;
    left -= 1; // The newest hit is in the window, so one is left.
    first = first + 1 === capacity ? 0 : first + 1;
  }
  if (left > limit) return undefined; // An overdraft, or a larger limit with the same window uses the key, too.
  if (left === limit) {
    result.remaining = 0;
    result.retryAfterMs = (numbers[ring + first]! - startMicros) / 1000;
    result.resetMs = (newestMicros - startMicros) / 1000;
    return false;
  }
  if (left === capacity || (left < hits && 8 * left < capacity)) return undefined; // The ring moves.
  const place = first + left;
  numbers[place < capacity ? ring + place : ring + place - capacity] = nowMicros;
  numbers[offset + NEWEST] = nowMicros;
  numbers[offset + HITS] = left + 1;
  numbers[offset + FIRST] = first;
  result.remaining = limit - left - 1;
  return true;
}

import type { Decision } from '../decision/decision.js';
import { DecisionWithReceipt } from '../decision/decision-with-receipt.js';
import * as log from '../limits/hit-ring.js';
import { HEAD, LIFE } from './block-head.js';
import { PlainWindowDecision } from './plain-window-decision.js';
import type { PlainWindowRule } from './plain-window-rule.js';
import { offsetOf } from './slab.js';

/** The most hits that may leave the window in one check. With more, the search of the general check is faster. */
const MOST_DROPPED = 4;

// The offsets of the numbers in a block. An imported name takes a lookup in its module each time.
const LIFE_OF_KEY = LIFE;
const RETENTION = HEAD + log.RETENTION;
const DROPPED = HEAD + log.DROPPED;
const HITS = HEAD + log.HITS;
const FIRST = HEAD + log.FIRST;
const NEWEST = HEAD + log.NEWEST;
const RING = HEAD + log.RING;

/**
 * Decides a check of one plain window with a cost of 1 in a `MemoryStore`. The log has only the window's own hits, and
 * its ring need not shrink. Returns `undefined` for any other check, and has then changed nothing.
 *
 * It does what `test` and `record` of the limit do, but in few functions, so V8 compiles it almost without calls. A call
 * would allocate an object for each time that it passes. The general check takes about twice as long.
 */
export function checkPlainWindow(rule: PlainWindowRule, key: string, nowMicros: number): Decision | undefined {
  const address = rule.addresses.get(key);
  if (address !== undefined) return checkKnown(rule, address, key, nowMicros);
  rule.findAddresses();
  return undefined;
}

/**
 * Separate from the lookup, because V8 rarely inlines a call that less than a seventh of the function's calls reach
 * (`--min-inlining-frequency`). While keys are new, most checks end at the lookup.
 */
function checkKnown(rule: PlainWindowRule, address: number, key: string, nowMicros: number): Decision | undefined {
  const { limit, windowMicros, slab } = rule;
  const numbers = slab.numbersAt(address);
  const offset = offsetOf(address);
  const newestMicros = numbers[offset + NEWEST]!;
  const startMicros = nowMicros - windowMicros;
  // Another limit recorded last, a cost was not 1, the clock stepped back, or the log has expired.
  if (numbers[offset + RETENTION] !== windowMicros || numbers[offset + DROPPED] !== -1) return undefined;
  if (newestMicros > nowMicros || newestMicros <= startMicros) return undefined;
  // The key is overdrawn, or a larger limit with the same window also uses it.
  if (numbers[offset + HITS]! > limit) return undefined;

  // A plain window bounds them, so they are integers of 32 bits. V8 would box `remaining` otherwise.
  const hits = numbers[offset + HITS]! | 0;
  let first = numbers[offset + FIRST]! | 0;
  let left = hits;
  const ring = offset + RING;
  const capacity = slab.blockSizeAt(address) - RING;
  let oldestMicros = numbers[ring + first]!;
  while (oldestMicros <= startMicros) {
    if (hits - left === MOST_DROPPED) return undefined;
    left -= 1; // The newest hit is in the window, so one is left.
    first = first + 1 === capacity ? 0 : first + 1;
    oldestMicros = numbers[ring + first]!;
  }
  const nextUnitMs = (oldestMicros - startMicros) / 1000;
  if (left === limit) return reject(rule, nextUnitMs, (newestMicros - startMicros) / 1000);
  if (left === capacity) return checkKnown(rule, rule.growLog(key, address), key, nowMicros);
  if (left < hits && 8 * left < capacity) return undefined; // The ring must shrink.
  const place = first + left;
  numbers[place < capacity ? ring + place : ring + place - capacity] = nowMicros;
  numbers[offset + NEWEST] = nowMicros;
  numbers[offset + HITS] = left + 1;
  numbers[offset + FIRST] = first;
  return allow(rule, limit - left - 1, nextUnitMs, key, numbers[offset + LIFE_OF_KEY]!, nowMicros);
}

// Each function only calls a constructor, so V8 inlines the constructor into it. Inside `checkKnown`, the call may be too rare
// to be inlined, and then takes 300 instructions.

function allow(
  rule: PlainWindowRule,
  remaining: number,
  nextUnitMs: number,
  key: string,
  life: number,
  nowMicros: number,
): Decision {
  return new PlainWindowDecision(rule, remaining, nextUnitMs, key, life, nowMicros);
}

/** With a cost of 1, the action is allowed when the next unit is free. */
function reject({ name, limit }: PlainWindowRule, nextUnitMs: number, resetMs: number): Decision {
  const result = {
    allowed: false,
    limit,
    remaining: 0,
    retryAfterMs: nextUnitMs,
    resetMs,
    nextUnitMs,
    delayMs: 0,
    reason: 'limit',
  } as const;
  return new DecisionWithReceipt(name, result, undefined);
}

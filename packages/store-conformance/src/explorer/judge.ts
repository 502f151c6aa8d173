import type { Decision, LimitDecision, RejectionReason } from '@rollgate/core';
import { firstTime } from '../first-time.js';
import { MS } from '../oracles/oracle.js';
import { wholeDecision } from '../whole-decision.js';
import type { ReadyCall, Ruling } from './scenario.js';
import type { Opinion, Truth } from './truth.js';

/**
 * The decision that the oracles expect right after a check or a peek of this cost.
 *
 * `actual` only saves time. Its wait is right when the oracle rejects one microsecond before the end and allows at the end.
 * An allowed action stays allowed while nothing happens, so no other moment is like that. The search of `firstTime` ends at
 * such a moment too, by the same assumption, so it could find nothing else. It runs only when the actual wait is wrong.
 */
export function expectedDecision(
  truth: Truth,
  { rulings, places }: ReadyCall,
  cost: number,
  { passes, allowed, delays }: Opinion,
  actual: Decision,
): Decision {
  const now = truth.nowMicros;
  const said: Record<string, LimitDecision> = {};
  for (const [index, ruling] of rulings.entries()) {
    const place = places[index]!;
    const { quota } = ruling.oracle;
    const actualHere = actual.limits[ruling.name];
    const isAllowed = (at: number) => truth.allows(ruling, place, at, cost);
    const isFull = (at: number) => truth.free(ruling, place, at) >= quota;
    const retryAfterMs = allowed ? 0 : cost > quota ? Infinity : wait(now, actualHere?.retryAfterMs, isAllowed);
    const figures = {
      allowed: passes[index]!,
      limit: quota,
      remaining: Math.max(0, truth.free(ruling, place, now)),
      retryAfterMs,
      resetMs: wait(now, actualHere?.resetMs, isFull),
      delayMs: delays[index]! / MS,
    };
    said[ruling.name] = passes[index]
      ? figures
      : { ...figures, reason: reason(ruling, truth.read(ruling, place, now), now, cost, retryAfterMs) };
  }
  return wholeDecision(said);
}

function wait(now: number, actualMs: number | undefined, holds: (at: number) => boolean): number {
  const micros = Math.round((actualMs ?? -1) * MS);
  const isTrue = micros >= 0 && micros < Infinity && holds(now + micros) && (micros === 0 || !holds(now + micros - 1));
  return (isTrue ? micros : firstTime(now, holds) - now) / MS;
}

/** The rule that still rejects just before the action would be allowed, were the state kept for ever. */
function reason({ oracle }: Ruling, state: unknown, now: number, cost: number, retryAfterMs: number): RejectionReason {
  if (cost > oracle.quota || oracle.allowsUnits === undefined) return 'limit';
  const allowedMs = wait(now, retryAfterMs, (at) => oracle.allows(state, at, cost));
  return oracle.allowsUnits(state, now + Math.round(allowedMs * MS) - 1, cost) ? 'minDifference' : 'limit';
}

/** The first field in which a decision is not as expected; `undefined` when there is none. */
export function difference(actual: Decision, expected: Decision): string | undefined {
  return differentField(actual, expected, '');
}

function differentField(actual: unknown, expected: unknown, path: string): string | undefined {
  if (Object.is(actual, expected)) return undefined;
  if (typeof expected !== 'object' || expected === null || typeof actual !== 'object' || actual === null) return path;
  for (const name in expected) {
    const field = (one: object) => (one as Record<string, unknown>)[name];
    const found = differentField(field(actual), field(expected), path === '' ? name : `${path}.${name}`);
    if (found !== undefined) return found;
  }
  return Object.keys(actual).length === Object.keys(expected).length ? undefined : path;
}

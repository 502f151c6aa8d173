import { DecisionWithReceipt } from '../decision/decision-with-receipt.js';
import { Receipt, RecordedHit } from '../engine/recorded-hit.js';
import type { Rule } from '../plan/plan.js';
import { PlainWindowDecision } from './plain-window-decision.js';
import type { PlainWindowRule } from './plain-window-rule.js';

/**
 * Keeps an object of each common shape alive. V8 drops the code for objects of a shape when it collects the last of them. So
 * a garbage collection in a quiet moment would make the next checks slow.
 *
 * V8 determines the size of a class's objects by the first seven. So there are more decisions, and `reason` gets room in the
 * object. The rare `retryIsEstimate` does not. V8 boxes the numbers of a field once it has had a fraction or more than 31
 * bits. So the fractions make it box the waits from the start. Units are whole and need no box, and the window of a plain
 * window is short here.
 */
export const SHAPE_EXAMPLES: readonly object[] = [
  ...Array.from({ length: 4 }).flatMap(() => {
    const figures = { limit: 0, remaining: 0, retryAfterMs: 0.5, resetMs: 0.5, nextUnitMs: 0.5, delayMs: 0 };
    return [
      new DecisionWithReceipt('', { ...figures, allowed: true }, undefined),
      new DecisionWithReceipt('', { ...figures, allowed: false, reason: 'limit' }, undefined),
    ];
  }),
  new PlainWindowDecision({ name: '', limit: 0, windowMs: 0 } as PlainWindowRule, 0, 0.5, '', 0.5, 0.5),
  new Receipt({}, [RecordedHit.none({} as Rule, '', 0.5)]),
];

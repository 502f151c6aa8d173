import type { Decision } from '@rollgate/core';
import { type Costs, PendingResult } from '@rollgate/core/store';
import type { CheckInput, CheckOperation, CheckResult } from '../operations/operations.js';
import type { EncodedPlan } from '../operations/plan-encoding.js';
import type { CheckDecisions, SentCheck } from './check-decisions.js';

/** A check or a peek on its way. */
export class PendingCheck implements CheckOperation, SentCheck {
  readonly decision: PendingResult<Decision> = new PendingResult();
  readonly encodedPlan: EncodedPlan;
  readonly keys: readonly string[];
  readonly costs: Costs;
  readonly changeCount: number;
  readonly #decisions: CheckDecisions;

  constructor(
    readonly kind: CheckOperation['kind'],
    { encodedPlan, keys, costs }: CheckInput,
    readonly clockMicros: number | undefined,
    decisions: CheckDecisions,
  ) {
    this.encodedPlan = encodedPlan;
    this.keys = keys;
    this.costs = costs;
    this.changeCount = decisions.changeCount;
    this.#decisions = decisions;
  }

  resolve(result: CheckResult, sentMs: number): void {
    this.decision.succeed(this.#decisions.decide(this, result, sentMs));
  }

  reject(error: unknown): void {
    this.decision.fail(error);
  }
}

import type { LimitDecision } from '@rollgate/core';
import type { CheckInput, CheckOperation, CheckResult } from '../operations/operations.js';

/** A key that SCAN has found, which is also the peek at its state. */
export class FoundKey implements CheckOperation {
  readonly kind = 'peek';
  readonly encodedPlan: CheckInput['encodedPlan'];
  readonly costs: CheckInput['costs'];
  readonly clockMicros: CheckInput['clockMicros'];
  /** What the peek has returned for each rule of the plan. */
  declare results: readonly LimitDecision[];

  /**
   * @param keys The Redis keys of the rules.
   * @param part The caller's key as the Redis key contains it.
   * @param index The rule to which the found key belongs.
   */
  constructor(
    { encodedPlan, costs, clockMicros }: Omit<CheckInput, 'keys'>,
    readonly keys: readonly string[],
    readonly part: string,
    readonly index: number,
    private readonly onPeeked: () => unknown,
    readonly reject: (error: unknown) => void,
  ) {
    this.encodedPlan = encodedPlan;
    this.costs = costs;
    this.clockMicros = clockMicros;
  }

  resolve({ limitDecisions }: CheckResult): void {
    this.results = limitDecisions;
    this.onPeeked();
  }
}

import type { Decision } from '@rollgate/core';
import { type Costs, PendingResult, toDecision } from '@rollgate/core/store';
import type { DenialCache, SentCheck } from '../denials/denial-cache.js';
import type { CheckInput, CheckOperation, CheckResult } from '../operations/operations.js';
import type { EncodedPlan } from '../operations/plan-encoder.js';

/** A check or a peek on its way, and its decision. */
export class PendingCheck implements CheckOperation, SentCheck {
  /** A check that stays, because V8 drops the compiled code of a class with its last object, and the code of each check with it. */
  static readonly kept = new PendingCheck('check', {} as CheckInput, undefined);

  readonly decision: PendingResult<Decision>;
  readonly encodedPlan: EncodedPlan;
  keys: readonly string[];
  readonly costs: Costs;
  readonly clockMicros: number | undefined;
  readonly encoding: CheckInput['encoding'];
  readonly changeCount: number;
  queueCount?: number;
  onQueued?: () => void;
  onAllowed?: () => void;

  /** @param decision That of a check which this one continues. */
  constructor(
    readonly kind: CheckOperation['kind'],
    { encodedPlan, keys, costs, clockMicros, encoding }: CheckInput,
    private readonly denials: DenialCache | undefined,
    decision = new PendingResult<Decision>(),
  ) {
    this.decision = decision;
    this.encodedPlan = encodedPlan;
    this.keys = keys;
    this.costs = costs;
    this.clockMicros = clockMicros;
    this.encoding = encoding;
    this.changeCount = denials?.changeCount ?? 0;
  }

  /** Makes the check run only if these queues are empty. Otherwise, `onQueued` is called. */
  requireEmpty(queueKeys: readonly string[], onQueued: () => void): void {
    this.keys = [...this.keys, ...queueKeys];
    this.queueCount = queueKeys.length;
    this.onQueued = onQueued;
  }

  resolve(result: CheckResult, sentMs: number): void {
    const { rules } = this.encodedPlan.plan;
    const decision = toDecision(rules, result.limitDecisions, result.receipt, this.costs);
    this.denials?.update(this, result, decision.allowed, sentMs);
    if (decision.allowed) this.onAllowed?.();
    this.decision.succeed(decision);
  }

  reject(error: unknown): void {
    this.decision.fail(error);
  }
}

import type { Decision } from '@rollgate/core';
import { toDecision } from '@rollgate/core/store';
import { performance } from '../base/platform.js';
import type { StateChanges } from '../changes/state-changes.js';
import type { DenialCache } from '../denials/denial-cache.js';
import type { CheckOperation, CheckResult } from '../operations/operations.js';

/** A check or a peek that was sent. */
export interface SentCheck extends Omit<CheckOperation, 'resolve' | 'reject'> {
  /** How many changes of states had started or ended when it was sent. */
  readonly changeCount: number;
}

/** Converts the results of checks and peeks into decisions, and updates the denial cache. */
export class CheckDecisions {
  readonly #denials: DenialCache | undefined;
  readonly #changes: StateChanges;

  constructor(denials: DenialCache | undefined, changes: StateChanges) {
    this.#denials = denials;
    this.#changes = changes;
  }

  /** How many changes of states have started or ended. */
  get changeCount(): number {
    return this.#changes.count;
  }

  decide(check: SentCheck, result: CheckResult, sentMs: number): Decision {
    const { limitDecisions, receipt } = result;
    const decision = toDecision(check.encodedPlan.plan.rules, limitDecisions, receipt, check.costs);
    if (this.#denials !== undefined) this.#updateDenials(this.#denials, check, result, decision, sentMs);
    return decision;
  }

  #updateDenials(
    denials: DenialCache,
    check: SentCheck,
    result: CheckResult,
    { allowed }: Decision,
    sentMs: number,
  ): void {
    // A check that recorded has changed the state. An allowed peek shows that another process may have reset the keys.
    const mayHaveChanged = check.kind === 'check' ? result.receipt !== undefined : allowed;
    if (mayHaveChanged) denials.invalidate(check.keys);
    else this.#addDenial(denials, check, result, sentMs);
  }

  /** Separate, so that V8 can inline the usual case. */
  #addDenial(denials: DenialCache, check: SentCheck, result: CheckResult, sentMs: number): void {
    denials.noteCheck(check);
    if (check.kind !== 'check' || check.changeCount !== this.#changes.count) return;
    const sentMicros = check.clockMicros ?? sentMs * 1000;
    denials.add(check, result, { sentMicros, receivedMicros: check.clockMicros ?? localMicros() });
  }
}

/** This process's monotonic time in whole microseconds, because waits are whole microseconds as well. */
export function localMicros(): number {
  return Math.floor(performance.now() * 1000);
}

import assert from 'node:assert/strict';
import type { LimitDecision } from '@rollgate/core';
import { assertSame } from '../../../store-conformance/src/assert-same.js';
import { combineDecisions, toPlainDecision } from '../../../store-conformance/src/expected-decision.js';
import type { StoreCall } from './call-records.js';
import { describeStoreCall, type Reference } from './reference.js';

/**
 * Throws if the denial cache returned an invalid decision. A valid one repeats a rejection that this process got for the same
 * check. The rejection must be young enough and precede no change by this process of a key whose limit rejects, and its waits must
 * have run down.
 */
export function verifyDenial(
  denial: StoreCall,
  earlier: readonly StoreCall[],
  maxAgeMs: number,
  reference: Reference,
): void {
  let failure: unknown;
  for (const source of earlier.toReversed()) {
    if (!isRejectionOfSameCheck(source, denial)) continue;
    try {
      verifySource(source, denial, earlier, maxAgeMs, reference);
      return;
    } catch (error) {
      failure ??= error;
    }
  }
  throw failure ?? new Error(`Expected an earlier rejection for the denial cache's ${describeStoreCall(denial)}`);
}

function verifySource(
  source: StoreCall,
  denial: StoreCall,
  earlier: readonly StoreCall[],
  maxAgeMs: number,
  reference: Reference,
): void {
  const passedMicros = denial.startedMicros - source.settledMicros!;
  assert(passedMicros < maxAgeMs * 1000, `Older than \`maxAge\`: ${describeStoreCall(denial)}`);
  const later = earlier.slice(earlier.indexOf(source) + 1);
  const change =
    later.find((call) => changesKeys(call) && hasRejectingKey(call, source)) ??
    earlier.find((call) => hasRecordedSince(call, source, reference));
  assert(
    change === undefined,
    `Served by the denial cache after a ${change && describeStoreCall(change)}: ${describeStoreCall(denial)}`,
  );
  const expected = reference.peekIfUnchanged(source, passedMicros) ?? toDecisionAfter(source, passedMicros);
  assertSame(
    toPlainDecision(denial.decision!),
    expected,
    () => `Expected the rejection with its waits run down: ${describeStoreCall(denial)}`,
  );
}

function isRejectionOfSameCheck(call: StoreCall, { subject, costs }: StoreCall): boolean {
  return (
    call.kind === 'check' &&
    call.execution !== undefined &&
    call.decision?.allowed === false &&
    JSON.stringify(call.costs) === JSON.stringify(costs) &&
    JSON.stringify(call.subject) === JSON.stringify(subject)
  );
}

/** Whether the process got a reply that the call recorded in one of the keys after the rejection. */
function hasRecordedSince(call: StoreCall, source: StoreCall, reference: Reference): boolean {
  if (call.kind !== 'check' || call.execution === undefined || !hasRejectingKey(call, source)) return false;
  const { receipt, count } = reference.resultOf(call);
  return receipt.length > 0 && count > reference.resultOf(source).count;
}

/** A settlement at the recorded cost changes nothing, so rejections stay true after it. */
function changesKeys({ kind, keyCount }: StoreCall): boolean {
  return kind !== 'check' && kind !== 'peek' && keyCount !== 0;
}

/** Whether the call uses a key of a limit that the other call's decision violates. */
function hasRejectingKey({ subject: { keys, specs } }: StoreCall, { subject, decision }: StoreCall): boolean {
  return Object.entries(keys).some(
    ([name, key]) =>
      subject.keys[name] === key &&
      subject.specs[name]!.algorithm === specs[name]!.algorithm &&
      !decision!.limits[name]!.allowed,
  );
}

function toDecisionAfter({ decision }: StoreCall, passedMicros: number) {
  const left = (ms: number) => Math.max(0, Math.round(ms * 1000) - passedMicros) / 1000;
  const limits = Object.entries(toPlainDecision(decision!).limits).map(([name, limit]): [string, LimitDecision] => {
    const [retryAfterMs, resetMs] = [left(limit.retryAfterMs), left(limit.resetMs)];
    return [name, { ...limit, retryAfterMs, resetMs, nextUnitMs: left(limit.nextUnitMs!) }];
  });
  return combineDecisions(Object.fromEntries(limits));
}

import assert from 'node:assert/strict';
import { costAt } from '@rollgate/core/store';
import { type Admission, mostInAnyWindow } from '../../../store-conformance/src/algorithms/admissions.js';
import { assertGuarantee, type LimitSpec } from '../../../store-conformance/src/algorithms.js';
import type { Execution, StoreCall } from './call-records.js';
import type { Call } from './caller.js';

/** The actions that one limit allowed for one key between two resets. */
interface Admissions {
  /** The limit's settings, each once. */
  readonly specs: Set<string>;
  readonly admitted: Admission[];
  lostUnits: number;
}

/**
 * Throws if the applications were allowed more than each limit guarantees, apart from refunds. Does not use the model. Units
 * that the server has lost may be allowed once more, which only the rolling window can check.
 */
export function verifyAdmissions(calls: readonly Call[], executions: readonly Execution[]): void {
  const table = new AdmissionTable(executions);
  for (const { storeCall, decision, isSettled } of calls) {
    if (storeCall?.execution === undefined || storeCall.kind !== 'check' || decision?.degraded !== false) continue;
    const at = storeCall.execution.serverMicros + storeCall.indexInMessage;
    for (const [index, [name, { delayMs }]] of Object.entries(decision.limits).entries()) {
      const cost = costAt(storeCall.costs, index);
      const { admitted } = table.entry(storeCall, storeCall.execution, name);
      const delay = Math.round(delayMs * 1000);
      if (cost > 0 && decision.allowed && !isSettled) admitted.push({ at, cost, delay });
    }
  }
  // Includes calls without a result, because a check with other settings may have dropped hits.
  for (const execution of executions) {
    for (const call of execution.calls) {
      for (const [index, name] of Object.keys(call.subject.specs).entries()) {
        table.entry(call, execution, name).lostUnits += execution.isLost ? costAt(call.costs, index) : 0;
      }
    }
  }
  for (const { specs, admitted, lostUnits } of table.entries.values()) {
    const [spec, ...others] = [...specs].map((text): LimitSpec => JSON.parse(text));
    admitted.sort((one, other) => one.at - other.at);
    if (others.length === 0) verify(spec!, admitted, lostUnits);
  }
}

class AdmissionTable {
  readonly entries = new Map<string, Admissions>();
  /** The resets of each key, by their number among all operations. */
  readonly #resets = new Map<string, number[]>();

  constructor(executions: readonly Execution[]) {
    for (const { calls, results } of executions) {
      for (const [index, call] of calls.entries()) {
        if (call.kind !== 'reset') continue;
        for (const name of Object.keys(call.subject.specs)) {
          const stateId = stateIdOf(call, name);
          this.#resets.set(stateId, [...(this.#resets.get(stateId) ?? []), results[index]!.count]);
        }
      }
    }
  }

  entry(call: StoreCall, { calls, results }: Execution, name: string): Admissions {
    const { count } = results[calls.indexOf(call)]!;
    const stateId = stateIdOf(call, name);
    const resetCount = (this.#resets.get(stateId) ?? []).filter((reset) => reset < count).length;
    const id = `${stateId} ${resetCount}`;
    let entry = this.entries.get(id);
    if (entry === undefined) {
      entry = { specs: new Set(), admitted: [], lostUnits: 0 };
      this.entries.set(id, entry);
    }
    entry.specs.add(JSON.stringify(call.subject.specs[name]));
    return entry;
  }
}

function stateIdOf({ subject }: StoreCall, name: string): string {
  return JSON.stringify([name, subject.keys[name], subject.specs[name]!.algorithm]);
}

function verify(spec: LimitSpec, admitted: readonly Admission[], lostUnits: number): void {
  if (lostUnits === 0) assertGuarantee(spec, admitted);
  else if (spec.algorithm === 'rollingWindow') {
    const { limit, window } = spec.options;
    const hits = admitted.map(({ at, cost }) => ({ time: at, cost }));
    const units = mostInAnyWindow(hits, window * 1000);
    assert(units <= limit + lostUnits, `Expected at most ${limit} and ${lostUnits} lost units, got ${units}`);
  }
}

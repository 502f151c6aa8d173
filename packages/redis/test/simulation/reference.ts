import type { Decision } from '@rollgate/core';
import { assertSame } from '../../../store-conformance/src/assert-same.js';
import { toPlainDecision } from '../../../store-conformance/src/expected-decision.js';
import { type ModelReceipt, ReferenceModel } from '../../../store-conformance/src/reference-model.js';
import type { Execution, Result, StoreCall, Subject } from './call-records.js';

/**
 * The expected result of every operation. The naive model replays everything that the server executed, in its order and
 * at the server's times.
 */
export class Reference {
  /** An event whose result the documentation leaves undefined. After it, the model expects nothing. */
  openResultReason: string | undefined;
  #model = new ReferenceModel();
  /** The limit and key that each Redis key belongs to. */
  readonly #subjects = new Map<string, Subject>();
  /** The operation that last changed each Redis key. */
  readonly #changes = new Map<string, number>();
  /** The operations that must not run twice, and the Redis key with their marks. */
  readonly #done = new Map<StoreCall, string>();
  /** The time of the newest change of each Redis key by the server's clock. */
  readonly #stamps = new Map<string, number>();
  #count = 0;

  /** Executes the same operations in the model. */
  execute(execution: Execution): void {
    const { message, calls, serverMicros, expired } = execution;
    for (const key of expired) {
      if (key.endsWith(':#done')) this.#forgetDone(key);
      else this.#expire(key, serverMicros);
    }
    let start = 0;
    execution.results = calls.map((call, index) => {
      const keys = message.keys.slice(start, start + call.keyCount);
      start += call.keyCount;
      const count = execution.results[index]?.count ?? ++this.#count; // After a restart, the operation runs again.
      return this.#operate(call, keys, serverMicros + index, count);
    });
  }

  /** Starts again with the state that the server still has. */
  restart(executions: readonly Execution[]): void {
    this.#model = new ReferenceModel();
    this.#done.clear();
    this.#stamps.clear();
    for (const execution of executions) this.execute(execution);
    this.markAllChanged();
  }

  /** Marks all keys as changed, because a rejection may drop a state that another clock makes implausible. */
  markAllChanged(): void {
    for (const key of this.#subjects.keys()) this.#changes.set(key, ++this.#count);
  }

  /** Throws unless the store's decision is the one that the model made when the server executed it. */
  verify(call: StoreCall): void {
    if (call.execution!.hasOpenResults) return;
    const { decision: expected } = this.resultOf(call);
    assertSame(
      toPlainDecision(call.decision!),
      expected,
      () => `Expected the decision of the model for ${describeStoreCall(call)}`,
    );
  }

  resultOf({ execution, indexInMessage }: StoreCall): Result {
    return execution!.results[indexInMessage]!;
  }

  /** The decision of a peek now, if only time has changed since the operation. Otherwise `undefined`. */
  peekIfUnchanged(call: StoreCall, passedMicros: number): Result['decision'] {
    const { count } = this.resultOf(call);
    const { message, serverMicros } = call.execution!;
    const isChanged = message.keys.some((key) => (this.#changes.get(key) ?? 0) > count);
    if (isChanged || this.openResultReason !== undefined) return undefined;
    const { specs, keys } = call.subject;
    const nowMicros = serverMicros + call.indexInMessage + passedMicros;
    return this.#model.check(specs, keys, call.costs, nowMicros, false).decision;
  }

  #operate(call: StoreCall, keys: readonly string[], nowMicros: number, count: number): Result {
    const { subject, costs, kind } = call;
    let result: { decision?: Result['decision']; receipt: ModelReceipt } = { receipt: [] };
    const isSettlement = kind === 'refund' || kind === 'settle';
    if (isSettlement) this.#settle(call, keys, nowMicros);
    else if (kind === 'reset') this.#model.reset(subject.specs, subject.keys);
    else {
      Object.keys(subject.specs).forEach((name, index) => {
        this.#subjects.set(keys[index]!, subjectOfLimit(subject, name));
      });
      result =
        kind === 'charge'
          ? { decision: this.#charge(call, keys, nowMicros), receipt: [] }
          : this.#model.check(subject.specs, subject.keys, costs, nowMicros, kind === 'check');
    }
    const changes = isSettlement || kind === 'reset' || kind === 'charge' || result.receipt.length > 0;
    const isBehind = keys.some((key) => this.#stampOf(key) > nowMicros);
    for (const key of changes ? keys : []) {
      this.#changes.set(key, count);
      this.#stamps.set(key, Math.max(this.#stampOf(key), nowMicros));
    }
    return { decision: result.decision, receipt: result.receipt, count, isBehind };
  }

  #charge(call: StoreCall, redisKeys: readonly string[], nowMicros: number): Decision {
    const { specs, keys } = call.subject;
    if (this.#done.has(call)) return this.#model.check(specs, keys, 1, nowMicros, false).decision;
    this.#done.set(call, redisKeys.at(-1)!);
    return this.#model.charge(specs, keys, call.costs, nowMicros);
  }

  #settle(call: StoreCall, redisKeys: readonly string[], nowMicros: number): void {
    const { settledCheck, settledCosts, subject } = call;
    const { receipt, isBehind } = this.resultOf(settledCheck!);
    const algorithms = Object.values(subject.specs).map(({ algorithm }) => algorithm);
    const isRolling = algorithms.every((algorithm) => algorithm === 'rollingWindow');
    if (!isRolling && settledCheck!.execution!.isLost) this.openResultReason ??= 'a refund of what the server has lost';
    if (isBehind) this.openResultReason ??= 'a refund of what was recorded after the clock had stepped back';
    if (this.#done.has(call)) return; // The script detects that the client has sent it twice.
    this.#done.set(call, redisKeys.at(-1) ?? '');
    this.#model.settle(receipt, settledCosts, nowMicros);
  }

  #stampOf(key: string): number {
    return this.#stamps.get(key) ?? -Infinity;
  }

  /** Lets these operations run again, because their marks have expired. */
  #forgetDone(marksKey: string): void {
    for (const [call, key] of this.#done) if (key === marksKey) this.#done.delete(call);
  }

  /** Expects that an expired key would not affect a decision. */
  #expire(key: string, nowMicros: number): void {
    const { specs, keys } = this.#subjects.get(key)!;
    const peek = () => this.#model.check(specs, keys, 1, nowMicros, false).decision;
    const before = peek();
    this.#model.reset(specs, keys);
    if (this.openResultReason === undefined)
      assertSame(before, peek(), () => `Expected ${key} to expire when it decides nothing`);
    this.#changes.set(key, ++this.#count);
  }
}

function subjectOfLimit({ specs, keys }: Subject, name: string): Subject {
  return { specs: { [name]: specs[name]! }, keys: { [name]: keys[name]! } };
}

/** Describes the call for an error's message. */
export function describeStoreCall({ kind, subject, costs, startedMicros, execution }: StoreCall): string {
  const executed = execution === undefined ? '' : `, executed at ${execution.serverMicros} µs of the server`;
  return `${kind} of ${costs} for ${JSON.stringify(subject.keys)} under ${JSON.stringify(subject.specs)}, called at ${startedMicros} µs${executed}`;
}

import assert from 'node:assert/strict';
import { type Decision, StoreError } from '@rollgate/core';
import type { SettledCosts } from '@rollgate/core/store';

import type { LimitSpec } from '../../../store-conformance/src/algorithms.js';
import type { StoreCall } from './call-records.js';
import type { Cost, Names } from './schedules.js';

import type { ProcessLimiter, SimulatedProcess } from './simulated-process.js';
import type { VirtualTime } from './virtual-time.js';

/** A timer may be early or late by a millisecond, and is set again when it was early. */
const TIMER_SLACK_MICROS = 3000;
/** The time that a process has to catch up after a pause, including the timers that it then sets. */
const GRACE_MICROS = 30_000;

/** A call of a limiter by the application. */
export interface Call {
  readonly kind: 'check' | 'peek' | 'charge' | 'refund' | 'settle' | 'reset';
  readonly limiter: ProcessLimiter;
  readonly startedMicros: number;
  /** The call of the store that the limiter made at once, if any: memory refunds without one. */
  storeCall: StoreCall | undefined;
  isDownAtStart: boolean;
  pauses: { readonly micros: number; readonly count: number };
  settledMicros: number | undefined;
  decision: Decision | undefined;
  error: unknown;
  /** Whether the caller has refunded or settled its decision. */
  isSettled: boolean;
}

/** Calls the limiters of a process as an application does, and compares the results with the possible ones. */
export class Caller {
  readonly calls: Call[] = [];
  readonly process: SimulatedProcess;
  readonly #time: VirtualTime;
  readonly #onViolation: (error: unknown) => void;

  constructor(time: VirtualTime, process: SimulatedProcess, onViolation: (error: unknown) => void) {
    this.#time = time;
    this.process = process;
    this.#onViolation = onViolation;
  }

  get limiters(): readonly ProcessLimiter[] {
    return this.process.limiters;
  }

  decide(kind: 'check' | 'peek' | 'charge', limiter: ProcessLimiter, names: Names, cost: Cost): Call {
    const methods: Record<typeof kind, (keys: Record<string, string>, options: object) => Promise<Decision>> =
      limiter.limiter;
    return this.#call(kind, limiter, () => methods[kind](toKeys(limiter, names), { cost: toCost(limiter, cost) }));
  }

  reset(limiter: ProcessLimiter, names: Names): void {
    const keys = toKeys(limiter, names);
    this.process.memory.reset({ specs: limiter.specs, keys });
    this.#call('reset', limiter, () => limiter.limiter.reset(keys));
  }

  /** Refunds one of the newest checks, whether or not it was settled before. */
  refund(back: number): void {
    this.#change(
      'refund',
      back,
      () => 0,
      ({ limiter }, decision) => limiter.refund(decision),
    );
  }

  /** Settles one of the newest checks, whether or not it was settled before. */
  settle(back: number, settled: Cost): void {
    const toSettledCosts = (limiter: ProcessLimiter) => toCost(limiter, settled);
    this.#change('settle', back, toSettledCosts, (one, decision) =>
      one.limiter.settle(decision, { cost: toSettledCosts(one) }),
    );
  }

  #change(
    kind: 'refund' | 'settle',
    back: number,
    toSettledCosts: (limiter: ProcessLimiter) => SettledCosts,
    run: (limiter: ProcessLimiter, decision: Decision) => Promise<void>,
  ): void {
    const checks = this.calls.filter(({ kind, decision }) => kind === 'check' && decision !== undefined);
    const check = checks.at(-1 - (back % checks.length));
    if (check === undefined) return;
    const { limiter, isSettled } = check;
    const decision = check.decision!;
    this.process.store.checkToSettle = check.storeCall;
    if (!isSettled && decision.allowed) this.process.memory.settle(decision, toSettledCosts(limiter));
    const call = this.#call(kind, limiter, () => run(limiter, decision));
    assert(!isSettled || call.storeCall === undefined, 'Expected the store to settle a check once');
    check.isSettled = true;
  }

  #call(kind: Call['kind'], limiter: ProcessLimiter, run: () => Promise<unknown>): Call {
    const { process } = this;
    const call: Call = {
      kind,
      limiter,
      startedMicros: this.#time.micros,
      storeCall: undefined,
      isDownAtStart: process.health.isDownFor(limiter.spec.timeoutMs),
      pauses: { ...process.pauses },
      settledMicros: undefined,
      decision: undefined,
      error: undefined,
      isSettled: false,
    };
    this.calls.push(call);
    process.lastCall = undefined;
    const settled = run();
    call.storeCall = process.lastCall;
    if (process.health.wasSent(call)) call.isDownAtStart = false;
    settled.then(
      (result) => this.#settle(call, () => this.#verifyResult(call, result as Decision | undefined)),
      (error) => this.#settle(call, () => this.#verifyError(call, error)),
    );
    return call;
  }

  #settle(call: Call, verify: () => void): void {
    call.settledMicros = this.#time.micros;
    try {
      this.#verifyTime(call);
      verify();
      const { storeCall, kind, isDownAtStart } = call;
      const isDecision = hasDecision(kind);
      const isLate = storeCall !== undefined && storeCall.settledMicros === undefined;
      if (isLate && !(isDecision && isDownAtStart))
        this.process.health.recordTimeout(call.limiter.spec.timeoutMs, kind);
      const isFailure = isLate || storeCall?.error !== undefined;
      if (isFailure && !(isDecision && isDownAtStart)) this.process.lastFailureMicros = call.settledMicros;
    } catch (error) {
      this.#onViolation(error);
    }
  }

  /** Expects that the call settled by its deadline. The pauses of the process do not count. */
  #verifyTime(call: Call): void {
    const { pauses } = this.process;
    const pausedMicros = pauses.micros - call.pauses.micros + (pauses.count - call.pauses.count) * GRACE_MICROS;
    const tookMicros = call.settledMicros! - call.startedMicros;
    const timeoutMicros = call.limiter.spec.timeoutMs * 1000;
    const maxMicros = timeoutMicros + TIMER_SLACK_MICROS + pausedMicros;
    assert(
      tookMicros <= maxMicros,
      `Expected ${describeCall(call)} to be settled in ${timeoutMicros} µs, took ${tookMicros} µs`,
    );
  }

  #verifyResult(call: Call, decision: Decision | undefined): void {
    const { storeCall, limiter, kind } = call;
    call.decision = decision;
    if (kind === 'settle' && limiter.spec.onStoreError !== 'throw') return; // The settlement may be lost.
    if (!hasDecision(kind)) {
      const isDone = storeCall === undefined || (storeCall.settledMicros !== undefined && !storeCall.error);
      assert(isDone, `Expected ${describeCall(call)} to be done`);
    } else if (decision!.degraded === false) {
      assert.equal(decision, storeCall?.decision, `Expected ${describeCall(call)} to be decided by the store`);
      assert(!call.isDownAtStart, `Expected no waiting for a store that is down: ${describeCall(call)}`);
    } else {
      assert.equal(decision!.degraded, limiter.spec.onStoreError);
      this.#verifyReason(call);
      if (decision!.degraded === 'fallback')
        assert(this.process.memory.hasDecided(decision!), 'Expected the memory to decide');
      else assert.equal(decision!.allowed, decision!.degraded === 'allow');
    }
  }

  #verifyError(call: Call, error: unknown): void {
    const { limiter, kind } = call;
    call.error = error;
    assert(error instanceof StoreError, `Expected ${describeCall(call)} to reject with a StoreError, got ${error}`);
    const isRejected = kind === 'refund' || kind === 'reset' || (kind === 'charge' && closesKeys(limiter));
    assert(limiter.spec.onStoreError === 'throw' || isRejected, 'Expected no error');
    this.#verifyReason(call);
  }

  /** Expects that the store failed, used up the timeout, or was known to be silent. */
  #verifyReason(call: Call): void {
    const { storeCall, startedMicros, settledMicros, limiter, kind, isDownAtStart } = call;
    const isDown = isDownAtStart && hasDecision(kind);
    if (isDown) {
      assert.equal(settledMicros, startedMicros, `Expected no waiting for a store that is down: ${describeCall(call)}`);
    } else if (storeCall!.settledMicros === undefined) {
      const waitedMicros = settledMicros! - startedMicros;
      assert(
        waitedMicros >= limiter.spec.timeoutMs * 1000 - 1,
        `Timed out after ${waitedMicros} µs: ${describeCall(call)}`,
      );
    } else {
      assert(
        storeCall!.error !== undefined,
        `Expected ${describeCall(call)} to be decided by the store, which responded`,
      );
    }
  }
}

/** Whether a charge is what `block` of a limiter does. */
function closesKeys({ specs, spec }: ProcessLimiter): boolean {
  const isBlock = ({ algorithm, options }: LimitSpec) => algorithm === 'block' && options.length !== 0;
  return spec.onStoreError !== 'fallback' && Object.values(specs).every(isBlock);
}

function hasDecision(kind: Call['kind']): boolean {
  return kind === 'check' || kind === 'peek' || kind === 'charge';
}

/** The cost as a limiter takes it. */
function toCost({ specs }: ProcessLimiter, cost: Cost): number | Record<string, number> {
  if (typeof cost === 'number') return cost;
  return Object.fromEntries(Object.keys(specs).map((name, index) => [name, cost[index]!]));
}

function toKeys({ specs }: ProcessLimiter, names: Names): Record<string, string> {
  return Object.fromEntries(Object.keys(specs).map((name, index) => [name, names[index]!]));
}

function describeCall({ kind, startedMicros, limiter }: Call): string {
  return `the ${kind} of ${startedMicros} µs (${JSON.stringify(limiter.spec)})`;
}

import type { Decision } from '@rollgate/core';
import { MS } from '../../../store-conformance/src/algorithms/oracle.js';
import { hasLease, reports } from '../../../store-conformance/src/model-states.js';
import type { Explorable, Place, Reach } from '../explore.js';
import { findBrokenGuarantee } from './find-broken-guarantee.js';
import { OracleState } from './oracle-state.js';
import type { PreparedScenario } from './scenario.js';
import { haveLivesEnded, stateHash } from './state-hash.js';
import { type DecidingStep, decodeStep, encode, MAX_TICK } from './steps.js';
import type { KeptState, Refundable, StoreUnderTest } from './store-under-test.js';

/** A history whose last step has a wrong result. */
export interface Finding {
  readonly steps: readonly number[];
  readonly problem: string;
  readonly actual: unknown;
  readonly expected: unknown;
}

const COSTS = [1, 2];
/** With costs of 1 and 2, these refund a part of a hit, change nothing, or record an overdraft. A refund settles to 0. */
const SETTLED_COSTS = [1, 3];
const CHARGED_COST = 2;
/** A part of an overdraft, or more than is used. */
const CREDITED_UNITS = 2;
/** Ticks for every state: a microsecond, and the unit of all settings. Each state adds ticks to its own boundaries. */
const TICKS = [1, MS];

/** The decision of a charge or a credit is that of a peek with cost 1. */
const costOfDecision = ({ kind, cost }: DecidingStep): number => (kind === 'charge' || kind === 'credit' ? 1 : cost);

/** Adds the ticks to a boundary and to one microsecond before it. */
function addTicks(ticks: Set<number>, micros: number): void {
  for (const tick of [micros - 1, micros]) if (tick > 0 && tick <= MAX_TICK) ticks.add(tick);
}

/** Whether the wait of a decision is exact. */
const isExact = ({ violated, limits }: Decision) => violated.every((name) => !limits[name]!.retryIsEstimate);

/** Takes each possible step from the end of a history. */
export class Expansion implements Explorable<undefined, Finding> {
  readonly start = undefined;
  transitions = 0;
  #finding: Finding | undefined;
  readonly #scenario: PreparedScenario;
  readonly #store: StoreUnderTest;
  #history: ArrayLike<number> = [];
  /** The oracles at the end of the history. */
  #oracles: OracleState;
  #hash = 0;
  /** What the store keeps at the end of the history. */
  #keptStates: (KeptState | undefined)[] = [];
  #refundable: readonly Refundable[] = [];
  /** Whether the store is no longer at the end of the history. */
  #isReplayNeeded = false;
  #onState: (code: number, hash: number) => void = () => {};

  constructor(scenario: PreparedScenario, store: StoreUnderTest) {
    this.#scenario = scenario;
    this.#store = store;
    this.#oracles = OracleState.start(scenario);
  }

  expand([place]: readonly [Place<undefined>], reach: Reach<undefined>): Finding | undefined {
    const history = place.actions;
    this.#history = history;
    this.#onState = (code, hash) => reach(place, code, hash, undefined);
    this.#oracles = OracleState.start(this.#scenario);
    for (let index = 0; index < history.length; index++)
      this.#oracles.take(decodeStep(history[index]!), this.#scenario.calls);
    this.#isReplayNeeded = true;
    this.#rewind();
    this.#keptStates = this.#store.readStates();
    this.#refundable = this.#store.refundable.slice();
    this.#hash = stateHash(this.#scenario, this.#oracles, this.#refundable, this.#keptStates);
    const ticks = new Set(TICKS);
    const callCount = this.#countCalls(history);
    // Steps that rarely change the state come first, because each change costs a replay.
    for (let call = 0; call < callCount; call++) {
      for (const cost of COSTS) this.#decide(encode('peek', call, cost), ticks);
    }
    this.#addBoundaries(ticks);
    for (const micros of ticks) this.#tick(micros);
    if (this.#oracles.nowMicros === this.#oracles.highestMicros) this.#tick(encode('stepBack'));
    for (let call = 0; call < callCount; call++) {
      for (const cost of COSTS) this.#decide(encode('check', call, cost), undefined);
      this.#decide(encode('charge', call, CHARGED_COST), undefined);
      if (this.#scenario.credits) this.#decide(encode('credit', call, CREDITED_UNITS), undefined);
      this.#takeStep(encode('reset', call));
    }
    for (let receipt = 0; receipt < this.#oracles.receipts.length; receipt++) {
      this.#refund(receipt);
      for (const cost of SETTLED_COSTS) this.#takeStep(encode('settle', receipt, cost));
      if (!this.#oracles.receipts[receipt]!.some(hasLease)) continue;
      this.#takeStep(encode('release', receipt));
      if (this.#scenario.leasesEnd) this.#takeStep(encode('renew', receipt));
    }
    return this.#finding;
  }

  /**
   * How many calls may come next. If calls differ only in their keys, a history with two keys exchanged shows the same, so
   * the first key comes first.
   */
  #countCalls(history: ArrayLike<number>): number {
    const { calls, isSymmetric } = this.#scenario;
    if (!isSymmetric) return calls.length;
    const used = Array.from(history, decodeStep).map((step) => ('call' in step ? step.call + 1 : 0));
    return Math.min(calls.length, Math.max(0, ...used) + 1);
  }

  /** Adds the times at which an oracle changes that no decision contains. */
  #addBoundaries(ticks: Set<number>): void {
    for (const stateId of this.#scenario.stateIds) {
      const life = this.#oracles.lifeOf(stateId);
      for (const at of life?.recorder.oracle.boundaries?.(life.state) ?? [])
        addTicks(ticks, at - this.#oracles.nowMicros);
    }
  }

  /** A store reads its clock only in a call, so a tick needs no replay. */
  #tick(code: number): void {
    this.transitions += 1;
    const oracles = this.#oracles.copy();
    oracles.take(decodeStep(code), this.#scenario.calls);
    this.#onState(code, stateHash(this.#scenario, oracles, this.#refundable, this.#keptStates));
  }

  #takeStep(code: number): OracleState {
    this.#rewind();
    this.transitions += 1;
    const oracles = this.#oracles.copy();
    oracles.take(decodeStep(code), this.#scenario.calls);
    this.#store.take(decodeStep(code));
    this.#reportState(code, oracles);
    return oracles;
  }

  #refund(receipt: number): void {
    this.#rewind();
    const keptStates = this.#store.readStates();
    const { refundable } = this.#store;
    const isWithoutEffect =
      haveLivesEnded(this.#oracles, refundable, keptStates, receipt) && !this.#oracles.receipts[receipt]!.some(reports);
    const before = isWithoutEffect
      ? stateHash(this.#scenario, this.#oracles, refundable, keptStates, false)
      : undefined;
    const oracles = this.#takeStep(encode('refund', receipt));
    if (before === undefined) return;
    const after = stateHash(this.#scenario, oracles, this.#store.refundable, this.#store.readStates(), false);
    if (after !== before)
      this.#fail(encode('refund', receipt), 'a refund in ended lives changes the state', after, before);
  }

  /** Takes a check, a peek, a charge or a credit, and adds the boundaries in its decision to `ticks`. */
  #decide(code: number, ticks: Set<number> | undefined): void {
    this.#rewind();
    this.transitions += 1;
    const step = decodeStep(code) as DecidingStep;
    const oracles = this.#oracles.copy();
    const verdict = oracles.take(step, this.#scenario.calls)!;
    const actual = this.#store.take(step)!;
    const difference = findDifference(actual, oracles.describe(verdict, actual));
    // What is given back may be admitted again.
    const isGuaranteed = actual.allowed && step.kind !== 'credit';
    const broken = isGuaranteed ? findBrokenGuarantee(this.#oracles, oracles, verdict.limits) : undefined;
    if (difference !== undefined) this.#fail(code, `\`${difference.field}\` differs`, actual, difference.expected);
    else if (broken !== undefined) this.#fail(code, broken, actual.allowed, false);
    else {
      this.#reportState(code, oracles);
      const waitMs = actual.allowed ? actual.resetMs : actual.retryAfterMs;
      if (waitMs !== Infinity && isExact(actual))
        this.#useTimes(code, step, actual.allowed, Math.round(waitMs * MS), ticks);
    }
  }

  /** Uses the times in the decision: the end of its wait, or the time at which the quota is full again. */
  #useTimes(code: number, step: DecidingStep, allowed: boolean, micros: number, ticks: Set<number> | undefined): void {
    // A rejected check that changed nothing has the same wait as the peek before it.
    if (!allowed && (step.kind === 'peek' || this.#isReplayNeeded)) this.#expectExactWait(code, step, micros);
    if (ticks !== undefined) addTicks(ticks, micros);
  }

  /** Expects the store to reject one microsecond before the end of the wait, and to allow at the end. */
  #expectExactWait(code: number, step: DecidingStep, micros: number): void {
    const { call } = step;
    const cost = costOfDecision(step);
    const { clock } = this.#store;
    const now = clock.micros;
    const allowed = [micros - 1, micros].map((waited) => {
      clock.micros = now + waited;
      return this.#store.peek(call, cost).allowed;
    });
    clock.micros = now;
    if (allowed[0] || !allowed[1]) {
      const problem = `allowed one microsecond before the end of the wait of ${micros} µs, and at it`;
      this.#fail(code, problem, allowed, [false, true]);
    }
  }

  /** Reports the state after a step on whose result the store and the oracles agree. */
  #reportState(code: number, oracles: OracleState): void {
    const [checkCount, expected] = [this.#store.refundable.length, oracles.receipts.length];
    if (checkCount !== expected)
      this.#fail(code, 'the number of checks that recorded something differs', checkCount, expected);
    else {
      const hash = stateHash(this.#scenario, oracles, this.#store.refundable, this.#store.readStates());
      // With an equal hash and the same receipts, the store can take the next step without a replay.
      this.#isReplayNeeded = hash !== this.#hash || oracles.receipts.length !== this.#oracles.receipts.length;
      this.#onState(code, hash);
    }
  }

  #rewind(): void {
    if (!this.#isReplayNeeded) return;
    this.#store.replay(this.#history);
    this.#isReplayNeeded = false;
  }

  #fail(code: number, problem: string, actual: unknown, expected: unknown): void {
    this.#isReplayNeeded = true;
    this.#finding ??= { steps: [...Array.from(this.#history), code], problem, actual, expected };
  }
}

/** A difference between a decision and what the oracles expect. */
interface Difference {
  /** The first field that differs. */
  readonly field: string;
  readonly expected: Decision;
}

function findDifference(actual: Decision, expected: Decision): Difference | undefined {
  const field = findDifferentField({ ...actual, exceeded: actual.exceeded, limits: actual.limits }, expected, '');
  return field === undefined ? undefined : { field, expected };
}

/** Returns the path of the first field that differs, or `undefined` if all fields are equal. */
function findDifferentField(actual: unknown, expected: unknown, path: string): string | undefined {
  if (Object.is(actual, expected)) return undefined;
  if (typeof expected !== 'object' || expected === null || typeof actual !== 'object' || actual === null) return path;
  for (const name in expected) {
    const [one, other] = [actual, expected].map((record) => (record as Record<string, unknown>)[name]);
    const found = findDifferentField(one, other, path === '' ? name : `${path}.${name}`);
    if (found !== undefined) return found;
  }
  return Object.keys(actual).length === Object.keys(expected).length ? undefined : path;
}

import type { Decision } from '@rollgate/core';
import { MS } from '../oracles/oracle.js';
import { findDifference } from './check-decision.js';
import { findBrokenGuarantee } from './find-broken-guarantee.js';
import { type Opinion, OracleState } from './oracle-state.js';
import type { Ready } from './scenario.js';
import { isOver, stateHash } from './state-hash.js';
import {
  type Asking,
  BACK,
  chargeOf,
  checkOf,
  MAX_TICK,
  peekOf,
  refundOf,
  releaseOf,
  renewOf,
  resetOf,
  settleOf,
  stepOf,
} from './steps.js';
import type { Kept, Refundable, StoreUnderTest } from './store-under-test.js';

/** A history whose last step the store got wrong. */
export interface Finding {
  readonly steps: readonly number[];
  readonly what: string;
  readonly actual: unknown;
  readonly expected: unknown;
}

const COSTS = [1, 2];
/** With costs of 1 and 2, these refund a part of a hit, change nothing, or record an overdraft. A refund settles to 0. */
const SETTLED_COSTS = [1, 3];
const CHARGED_COST = 2;
/** Ticks for every state: a microsecond, and the unit of all settings. Each state adds ticks to its own boundaries. */
const TICKS = [1, MS];

/** The decision of a charge is that of a peek with cost 1. */
const costOfDecision = ({ kind, cost }: Asking): number => (kind === 'charge' ? 1 : cost);

/** Adds the tick to a boundary, and the one to just before it. */
function addTicks(due: Set<number>, micros: number): void {
  for (const tick of [micros - 1, micros]) if (tick > 0 && tick <= MAX_TICK) due.add(tick);
}

/** Whether the wait of a decision is exact. */
const isExact = ({ violated, limits }: Decision) => violated.every((name) => !limits[name]!.retryIsEstimate);

type Meet = (code: number, hash: number) => void;

/** Takes every step from the end of a history. */
export class Expansion {
  transitions = 0;
  finding: Finding | undefined;
  readonly #ready: Ready;
  readonly #subject: StoreUnderTest;
  #row: ArrayLike<number> = [];
  /** At the end of the history. */
  #truth: OracleState;
  #hash = 0;
  /** What the store keeps there, until its next step. */
  #kept: (Kept | undefined)[] = [];
  #refundable: readonly Refundable[] = [];
  /** Whether the subject is no longer at the end of the history. */
  #isMoved = false;
  #meet: Meet = () => {};

  constructor(ready: Ready, subject: StoreUnderTest) {
    this.#ready = ready;
    this.#subject = subject;
    this.#truth = OracleState.start(ready);
  }

  /** Calls `meet` with each step and the hash of the state after it. */
  expand(row: ArrayLike<number>, meet: Meet): void {
    this.#row = row;
    this.#meet = meet;
    this.#truth = OracleState.start(this.#ready);
    for (let index = 0; index < row.length; index++) this.#truth.take(stepOf(row[index]!), this.#ready.calls);
    this.#isMoved = true;
    this.#rewind();
    this.#kept = this.#subject.look();
    this.#refundable = this.#subject.refundable.slice();
    this.#hash = stateHash(this.#ready, this.#truth, this.#refundable, this.#kept);
    const due = new Set(TICKS);
    // Steps that rarely change the state come first, because each change costs a replay.
    for (let call = 0; call < this.#ready.calls.length; call++) {
      for (const cost of COSTS) this.#ask(peekOf(call, cost), due);
    }
    this.#addBoundaries(due);
    for (const micros of due) this.#tick(micros);
    if (this.#truth.nowMicros === this.#truth.highestMicros) this.#tick(BACK);
    for (let call = 0; call < this.#ready.calls.length; call++) {
      for (const cost of COSTS) this.#ask(checkOf(call, cost), undefined);
      this.#ask(chargeOf(call, CHARGED_COST), undefined);
      this.#act(resetOf(call));
    }
    for (let receipt = 0; receipt < this.#truth.receipts.length; receipt++) {
      this.#refund(receipt);
      for (const cost of SETTLED_COSTS) this.#act(settleOf(receipt, cost));
      if (!this.#hasSlots(receipt)) continue;
      this.#act(releaseOf(receipt));
      if (this.#ready.leasesEnd) this.#act(renewOf(receipt));
    }
  }

  /** Whether the check of this receipt took slots. */
  #hasSlots(receipt: number): boolean {
    return this.#truth.receipts[receipt]!.some(({ ruling }) => ruling.oracle.retryAfterMicros !== undefined);
  }

  /** Adds the times at which the oracles change without a decision that names them. */
  #addBoundaries(due: Set<number>): void {
    for (const life of this.#truth.lives) {
      for (const at of life?.by.oracle.boundaries?.(life.state) ?? []) addTicks(due, at - this.#truth.nowMicros);
    }
  }

  /** The store learns the time only from a call, so a tick needs no replay. */
  #tick(code: number): void {
    this.transitions += 1;
    const truth = this.#truth.copy();
    truth.take(stepOf(code), this.#ready.calls);
    this.#meet(code, stateHash(this.#ready, truth, this.#refundable, this.#kept));
  }

  #act(code: number): OracleState {
    this.#rewind();
    this.transitions += 1;
    const truth = this.#truth.copy();
    truth.take(stepOf(code), this.#ready.calls);
    this.#subject.take(stepOf(code));
    this.#arrive(code, truth);
    return truth;
  }

  #refund(receipt: number): void {
    this.#rewind();
    const kept = this.#subject.look();
    const { refundable } = this.#subject;
    const before = isOver(this.#truth, refundable, kept, receipt)
      ? stateHash(this.#ready, this.#truth, refundable, kept, false)
      : undefined;
    const truth = this.#act(refundOf(receipt));
    if (before === undefined) return;
    const after = stateHash(this.#ready, truth, this.#subject.refundable, this.#subject.look(), false);
    if (after !== before)
      this.#fail(refundOf(receipt), 'a refund that gives nothing back changes the state', after, before);
  }

  /** Takes a check or a peek, and adds the boundaries that its decision names to `due`. */
  #ask(code: number, due: Set<number> | undefined): void {
    this.#rewind();
    this.transitions += 1;
    const step = stepOf(code) as Asking;
    const call = this.#ready.calls[step.call]!;
    const truth = this.#truth.copy();
    const opinion = truth.take(step, this.#ready.calls) as Opinion;
    const actual = this.#subject.take(step)!;
    const cost = costOfDecision(step);
    const difference = findDifference(actual, truth, call, cost, opinion);
    const broken = actual.allowed ? findBrokenGuarantee(this.#truth, truth, call) : undefined;
    if (difference !== undefined) this.#fail(code, `\`${difference.field}\` differs`, actual, difference.expected);
    else if (broken !== undefined) this.#fail(code, broken, actual.allowed, false);
    else {
      this.#arrive(code, truth);
      const waitMs = actual.allowed ? actual.resetMs : actual.retryAfterMs;
      if (waitMs !== Infinity && isExact(actual)) this.#await(code, step, actual.allowed, Math.round(waitMs * MS), due);
    }
  }

  /** Uses the times in the decision: the end of its wait, or the time at which the quota is full again. */
  #await(code: number, step: Asking, allowed: boolean, micros: number, due: Set<number> | undefined): void {
    // A check that was rejected and left no trace waits as the peek before it.
    if (!allowed && (step.kind === 'peek' || this.#isMoved)) this.#tryWait(code, step, micros);
    if (due !== undefined) addTicks(due, micros);
  }

  /** Expects the store to reject one microsecond before the end of the wait, and to allow at the end. */
  #tryWait(code: number, step: Asking, micros: number): void {
    const { call } = step;
    const cost = costOfDecision(step);
    const { clock } = this.#subject;
    const now = clock.micros;
    const allowed = [micros - 1, micros].map((wait) => {
      clock.micros = now + wait;
      return this.#subject.peek(call, cost).allowed;
    });
    clock.micros = now;
    if (allowed[0] || !allowed[1]) {
      const what = `allowed one microsecond before the end of the wait of ${micros} µs, and at it`;
      this.#fail(code, what, allowed, [false, true]);
    }
  }

  /** The store and the oracles agree on the step. */
  #arrive(code: number, truth: OracleState): void {
    const [made, expected] = [this.#subject.refundable.length, truth.receipts.length];
    if (made !== expected) this.#fail(code, 'the number of checks that recorded something differs', made, expected);
    else {
      const hash = stateHash(this.#ready, truth, this.#subject.refundable, this.#subject.look());
      // With an equal hash, the subject can take the next step without a replay, unless its receipts are no longer the
      // same.
      this.#isMoved = hash !== this.#hash || truth.receipts.length !== this.#truth.receipts.length;
      this.#meet(code, hash);
    }
  }

  #rewind(): void {
    if (!this.#isMoved) return;
    this.#subject.replay(this.#row);
    this.#isMoved = false;
  }

  #fail(code: number, what: string, actual: unknown, expected: unknown): void {
    this.#isMoved = true;
    this.finding ??= { steps: [...Array.from(this.#row), code], what, actual, expected };
  }
}

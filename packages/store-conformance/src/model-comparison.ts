import type { Decision, Limit, RateLimiter } from '@rollgate/core';
import { credit } from '@rollgate/core/credit';
import { MS } from './algorithms/oracle.js';
import { limitsOf, mayCredit } from './algorithms.js';
import type { Command, Cost, KeyNames, SettledCost, Step } from './arbitraries/histories.js';
import { assertSame } from './assert-same.js';
import { toPlainDecision } from './expected-decision.js';
import { LeaseControl } from './lease-control.js';
import { hasLease, hasSlots } from './model-states.js';
import { type LimitSpecs, type ModelReceipt, ReferenceModel } from './reference-model.js';
import type { TestClock } from './test-clock.js';
import type { WarningLog } from './warning-log.js';

type DecidingCommand = Extract<Command, { kind: 'check' | 'peek' }>;

/** A check of the limiter, with its receipt in the model. */
interface PastCheck {
  readonly limiter: RateLimiter;
  readonly decision: Decision;
  /** The records that can still be refunded or settled. */
  receipt: ModelReceipt;
  /** The leases that can still be released. */
  slots: ModelReceipt;
  /** Whether the limiter renews the leases. */
  isRenewed: boolean;
}

function toKeys(specs: LimitSpecs, names: KeyNames): Record<string, string> {
  return Object.fromEntries(Object.keys(specs).map((name, index) => [name, names[index % names.length]!]));
}

function toCost(specs: LimitSpecs, cost: Cost): number | Record<string, number> {
  if (typeof cost === 'number') return cost;
  return Object.fromEntries(Object.keys(specs).map((name, index) => [name, cost[index]!]));
}

function toSettledCost(names: readonly string[], settled: SettledCost): number | Record<string, number> {
  if (typeof settled === 'number') return settled;
  const costs = names.map((name, index): [string, number | undefined] => [name, settled[index]]);
  return Object.fromEntries(costs.filter((entry): entry is [string, number] => entry[1] !== undefined));
}

function pick<Value>(record: Readonly<Record<string, Value>>, names: readonly string[]): Record<string, Value> {
  return Object.fromEntries(names.map((name) => [name, record[name]!]));
}

function leaseOf(specs: LimitSpecs): number | undefined {
  return Object.values(specs)
    .map(({ options }) => ('lease' in options ? options.lease : undefined))
    .find((lease) => lease !== undefined);
}

const violatedOf = ({ violated, limits }: Decision) => violated.map((name) => limits[name]!);

/** Runs the same history on a limiter and on the model, and expects the same decisions. */
export class ModelComparison {
  readonly #clock: TestClock;
  readonly #model: ReferenceModel;
  readonly #pastChecks: PastCheck[] = [];
  #specs: LimitSpecs;
  /** The limits of all specs so far, because a history may use the same objects again. */
  readonly #knownLimits = new Map<string, Readonly<Record<string, Limit>>>();
  #limits: Readonly<Record<string, Limit>>;
  #dueMicros = 0;
  readonly #warnings: WarningLog | undefined;
  /** The lease of all slots of the history. */
  #leaseMs: number | undefined;

  /** @param warnings The warnings of the limiter, if they are compared, too. */
  constructor(specs: LimitSpecs, clock: TestClock, leasesEnd: boolean, warnings?: WarningLog) {
    this.#clock = clock;
    this.#warnings = warnings;
    this.#model = new ReferenceModel(leasesEnd);
    this.#specs = specs;
    this.#limits = this.#limitsOf(specs);
    this.#leaseMs = leaseOf(specs);
  }

  async run(command: Command, limiter: RateLimiter): Promise<void> {
    this.#advance(command.step);
    if (command.kind === 'change') {
      this.#specs = command.limits;
      this.#limits = command.isNew ? limitsOf(command.limits) : this.#limitsOf(command.limits);
      this.#leaseMs ??= leaseOf(command.limits);
    } else if (command.kind === 'refund') {
      await this.#refund(command.back);
    } else if (command.kind === 'release') {
      await this.#release(command.back);
    } else if (command.kind === 'renew') {
      await this.#renew(limiter);
    } else if (command.kind === 'settle') {
      await this.#settle(command.back, command.settled);
    } else if (command.kind === 'charge') {
      await this.#charge(command, limiter);
    } else if (command.kind === 'credit') {
      await this.#credit(command, limiter);
    } else if (command.kind === 'reset') {
      const keys = toKeys(this.#specs, command.keys);
      await limiter.reset(keys, { limits: this.#limits });
      this.#model.reset(this.#specs, keys);
    } else {
      await this.#decide(command, limiter);
    }
  }

  #limitsOf(specs: LimitSpecs): Readonly<Record<string, Limit>> {
    const text = JSON.stringify(specs);
    const limits = this.#knownLimits.get(text) ?? limitsOf(specs);
    this.#knownLimits.set(text, limits);
    return limits;
  }

  #advance(step: Step): void {
    const { micros } = this.#clock;
    this.#clock.micros = typeof step === 'number' ? micros + step : Math.max(micros, this.#dueMicros + step.due);
  }

  #pastCheck(back: number): PastCheck | undefined {
    return this.#pastChecks.at(-1 - (back % this.#pastChecks.length));
  }

  async #settle(back: number, settled: SettledCost): Promise<void> {
    const check = this.#pastCheck(back);
    if (check === undefined) return;
    const cost = toSettledCost(Object.keys(check.decision.limits), settled);
    await check.limiter.settle(check.decision, { cost });
    this.#model.settle(check.receipt, cost, this.#clock.micros);
    const isFreed = check.receipt
      .filter(hasSlots)
      .every(({ name }) => (typeof cost === 'number' ? cost : cost[name]) === 0);
    if (check.receipt.length > 0) check.slots = isFreed ? [] : check.slots.filter(hasSlots);
    check.receipt = []; // A decision is refunded or settled once.
  }

  async #release(back: number): Promise<void> {
    const check = this.#pastCheck(back);
    if (check === undefined || check.slots.length === 0) return;
    await check.limiter.release(check.decision);
    this.#model.release(check.slots, this.#clock.micros);
    check.slots = [];
  }

  /** Renews the leases that are open, and expects the limiter to report those that are lost. */
  async #renew(limiter: RateLimiter): Promise<void> {
    if (this.#leaseMs === undefined) return;
    const lost = await LeaseControl.of(limiter)?.renew(this.#leaseMs);
    if (lost === undefined) return;
    for (const check of this.#pastChecks) {
      if (check.limiter !== limiter || check.slots.length === 0 || !check.isRenewed) continue;
      check.isRenewed = this.#model.renew(check.slots, this.#clock.micros);
      const about = () =>
        `Whether a renewal at ${this.#clock.micros} µs finds slots: ${JSON.stringify(check.decision)}`;
      assertSame(!lost.includes(check.decision), check.isRenewed, about);
    }
  }

  async #charge(command: Extract<Command, { kind: 'charge' }>, limiter: RateLimiter): Promise<void> {
    const { cost } = command;
    const keys = toKeys(this.#specs, command.keys);
    const { micros } = this.#clock;
    const expected = this.#model.charge(this.#specs, keys, cost, micros);
    const decision = await limiter.charge(keys, { cost: toCost(this.#specs, cost), limits: this.#limits });
    assertSame(toPlainDecision(decision), expected, () => this.#describe(command));
  }

  async #credit(command: Extract<Command, { kind: 'credit' }>, limiter: RateLimiter): Promise<void> {
    const { units, beyond } = command;
    const names = Object.keys(this.#specs).filter((name) => mayCredit(this.#specs[name]!, beyond));
    if (names.length === 0) return;
    const keys = pick(toKeys(this.#specs, command.keys), names);
    const expected = this.#model.credit(pick(this.#specs, names), keys, command, this.#clock.micros);
    const decision = await credit(limiter, keys, units, { limits: this.#limits, beyond });
    assertSame(toPlainDecision(decision), expected, () => this.#describe(command));
  }

  async #refund(back: number): Promise<void> {
    const check = this.#pastCheck(back);
    if (check === undefined) return;
    await check.limiter.refund(check.decision);
    this.#model.settle(check.receipt, 0, this.#clock.micros);
    if (check.receipt.length > 0) check.slots = [];
    check.receipt = []; // A decision is refunded or settled once.
  }

  async #decide(command: DecidingCommand, limiter: RateLimiter): Promise<void> {
    const { kind, cost } = command;
    const keys = toKeys(this.#specs, command.keys);
    const { micros } = this.#clock;
    const peek = () => this.#model.check(this.#specs, keys, 1, micros, false).decision;
    const before = this.#warnings && peek();
    const { decision: expected, receipt } = this.#model.check(this.#specs, keys, cost, micros, kind === 'check');
    const options = { cost: toCost(this.#specs, cost), limits: this.#limits };
    const decision = await (kind === 'check' ? limiter.check(keys, options) : limiter.peek(keys, options));
    assertSame(toPlainDecision(decision), expected, () => this.#describe(command));
    if (this.#warnings) {
      const crossings = decision.allowed ? this.#warnings.expected(expected, before!, peek()) : [];
      assertSame(this.#warnings.take(), crossings, () => `Warnings: ${this.#describe(command)}`);
    }
    // A rejected attempt stays recorded.
    const left = decision.allowed ? receipt : [];
    const slots = left.filter(hasLease);
    if (kind === 'check') this.#pastChecks.push({ limiter, decision, receipt: left, slots, isRenewed: true });
    const waitMs = decision.allowed ? decision.resetMs : decision.retryAfterMs;
    if (waitMs !== Infinity) this.#dueMicros = micros + Math.round(waitMs * MS);
    const isExact = violatedOf(decision).every(({ retryIsEstimate }) => !retryIsEstimate);
    if (!decision.allowed && waitMs !== Infinity && isExact)
      await this.#expectExactWait(command, limiter, keys, waitMs);
  }

  /** Expects a rejection one microsecond before the end of the wait, and an allowed action at its end. */
  async #expectExactWait(
    command: DecidingCommand,
    limiter: RateLimiter,
    keys: Record<string, string>,
    waitMs: number,
  ): Promise<void> {
    const startMicros = this.#clock.micros;
    const options = { cost: toCost(this.#specs, command.cost), limits: this.#limits };
    const allowed: boolean[] = [];
    for (const offset of [-1, 0]) {
      this.#clock.micros = startMicros + Math.round(waitMs * MS) + offset;
      allowed.push((await limiter.peek(keys, options)).allowed);
    }
    this.#clock.micros = startMicros;
    assertSame(allowed, [false, true], () => `A wait of ${waitMs} ms is not exact: ${this.#describe(command)}`);
  }

  #describe(command: Command): string {
    return `${JSON.stringify(command)} at ${this.#clock.micros} µs under ${JSON.stringify(this.#specs)}`;
  }
}

import type { Awaitable, Decision, LimitDecision, Store } from '@rollgate/core';
import { type Costs, costAt, isThenable, type Keys, keyAt, PendingResult, takeReceipt } from '@rollgate/core/store';
import type { CreditAccount } from './credit-account.js';
import { rejectionAt } from './denial.js';
import type { Lease } from './lease.js';
import { toLeasedDecision } from './leased-decision.js';
import { type LeasedPlan, resultsOf } from './leased-plan.js';
import { LeasedReceipt, type SpentUnits } from './leased-receipt.js';
import { mapResult } from './map-result.js';
import type { RequestListener } from './unit-request.js';

/** After so many requests for units, which other callers have spent each time, the store decides. */
const MAX_ATTEMPTS = 4;

/** A rule that this check may decide by a lease. */
interface LeasedPart {
  readonly account: CreditAccount;
  readonly index: number;
  readonly units: number;
}

/** One check of a plan with limits that can be leased. */
export class LeasedCheck implements RequestListener {
  readonly #store: Store;
  readonly #plan: LeasedPlan;
  readonly #keys: Keys;
  readonly #costs: Costs;
  readonly #parts: LeasedPart[] = [];
  #mayLease: boolean;
  #attempts = 0;
  #hasReturnedUnits = false;
  /** The part whose units it waits for. */
  #awaited: LeasedPart | undefined;
  /** The decision, if it is known before {@link run} returns. */
  #decision: Awaitable<Decision> | undefined;
  #pending: PendingResult<Decision> | undefined;

  constructor(store: Store, plan: LeasedPlan, keys: Keys, costs: Costs, nowMs: number) {
    this.#store = store;
    this.#plan = plan;
    this.#keys = keys;
    this.#costs = costs;
    this.#mayLease = !plan.isWhole && !plan.openCalls.isClosed;
    const { accounts } = plan;
    for (let index = 0; index < accounts.length; index++) {
      const units = costAt(costs, index);
      const account = units === 0 ? undefined : accounts[index]?.of(keyAt(keys, index));
      if (account === undefined) continue;
      account.demand.add(units, nowMs);
      this.#mayLease &&= units <= account.terms.limit;
      this.#parts.push({ account, index, units });
    }
    this.#mayLease &&= this.#parts.length > 0;
  }

  /** Decides at once if this process holds the units. */
  run(nowMs: number): Awaitable<Decision> {
    const decision = this.#attempt(nowMs) ?? this.#decision;
    if (decision !== undefined) return decision;
    this.#pending = new PendingResult();
    return this.#pending;
  }

  /** The units of the part that waits. */
  get units(): number {
    return this.#awaited!.units;
  }

  onEnd(granted: Lease | undefined): void {
    if (this.#pending?.isAbandoned) return;
    const nowMs = this.#nowMs();
    try {
      const mayUse = granted !== undefined && this.#parts.length === 1 && granted.left >= this.units;
      this.#succeed(mayUse ? this.#spend([granted], nowMs) : this.#attempt(nowMs));
    } catch (misuse) {
      this.onFailed(misuse);
    }
  }

  onFailed(error: unknown): void {
    if (this.#pending !== undefined) this.#pending.fail(error);
    else this.#decision = Promise.reject(error);
  }

  /** Decides, or returns `undefined` and waits for units. */
  #attempt(nowMs: number): Awaitable<Decision> | undefined {
    while (this.#mayLease && this.#attempts++ < MAX_ATTEMPTS) {
      const leases = this.#parts.map(({ account, units }) => account.find(units, nowMs));
      const missing = this.#parts.filter((_, place) => leases[place] === undefined);
      if (missing.length === 0) return this.#spend(leases as Lease[], nowMs);
      if (!this.#parts.every(({ account }) => account.demand.isHigh)) break;
      if (this.#plan.others !== undefined) return this.#checkInStore(missing, nowMs);
      if (missing.some(({ account, units }) => account.denialOf(units, nowMs))) return this.#reject(nowMs);
      const [first, ...others] = missing;
      for (const { account, units } of others) account.ask(units, nowMs);
      this.#awaited = first;
      first!.account.askFor(this, nowMs);
      return undefined;
    }
    return this.#checkInStore([], nowMs);
  }

  #succeed(decision: Awaitable<Decision> | undefined): void {
    const pending = this.#pending;
    if (decision === undefined) return;
    if (pending === undefined) this.#decision = decision;
    else if (isThenable(decision)) {
      decision.then(
        (late) => pending.succeed(late),
        (error) => pending.fail(error),
      );
    } else pending.succeed(decision);
  }

  /** Spends the units here, then checks the other rules in the store. */
  #spend(leases: readonly Lease[], nowMs: number): Awaitable<Decision> {
    const spent = this.#parts.map(({ account, index, units }, place): SpentUnits => {
      const lease = leases[place]!;
      account.spend(lease, units, nowMs);
      return { account, lease, index, units };
    });
    const { others, otherIndices } = this.#plan;
    if (others === undefined) return this.#decide(this.#figures(nowMs), spent, undefined);
    const keys = typeof this.#keys === 'string' ? this.#keys : otherIndices.map((index) => keyAt(this.#keys, index));
    const costs =
      typeof this.#costs === 'number' ? this.#costs : otherIndices.map((index) => costAt(this.#costs, index));
    const giveBack = () => {
      for (const { account, lease, units } of spent) account.giveBack(lease, units);
    };
    return mapResult(
      this.#store.check(others, keys, costs),
      (decision): Awaitable<Decision> => {
        const repliedMs = this.#nowMs();
        const isOver = spent.some(({ lease }) => repliedMs >= lease.untilMs);
        if (isOver || !decision.allowed) giveBack();
        if (!decision.allowed) return this.#decide(this.#figures(repliedMs, decision), [], undefined);
        const receipt = takeReceipt(decision);
        if (!isOver) return this.#decide(this.#figures(repliedMs, decision), spent, receipt);
        // The store may have stopped counting units that start now.
        return mapResult(this.#store.refund(receipt), () => this.#checkInStore([], this.#nowMs()));
      },
      (error) => {
        giveBack();
        throw error;
      },
    );
  }

  /** Checks all rules in the store. Units that this process holds must not be what rejects the check. */
  #checkInStore(missing: readonly LeasedPart[], nowMs: number): Awaitable<Decision> {
    const checked = this.#store.check(this.#plan.inner, this.#keys, this.#costs);
    for (const { account, units } of missing) account.ask(units, nowMs);
    return mapResult(checked, (decision) => {
      if (!decision.allowed && !this.#hasReturnedUnits) {
        this.#hasReturnedUnits = true;
        const returned = this.#parts.filter(({ account }) => account.returnUnits());
        if (returned.length > 0) return this.#checkInStore([], nowMs);
      }
      const receipt = takeReceipt(decision);
      return this.#decide(resultsOf(this.#plan, decision), [], receipt);
    });
  }

  #reject(nowMs: number): Decision {
    const results = this.#figures(nowMs);
    for (const { account, index, units } of this.#parts) {
      const denial = account.denialOf(units, nowMs);
      if (denial !== undefined) results[index] = rejectionAt(denial, results[index]!, nowMs);
    }
    return this.#decide(results, [], undefined);
  }

  #decide(results: readonly LimitDecision[], spent: readonly SpentUnits[], inner: unknown): Decision {
    const hasReceipt = spent.length > 0 || inner !== undefined;
    const receipt = hasReceipt ? new LeasedReceipt(this.#plan, this.#keys, spent, inner) : undefined;
    return toLeasedDecision(this.#plan.outer, results, receipt, this.#costs);
  }

  /** The figures of all rules. Those of the other rules are in the store's decision. */
  #figures(nowMs: number, decision?: Decision): LimitDecision[] {
    const { outer, accounts } = this.#plan;
    return outer.rules.map(({ name }, index) => {
      const part = this.#parts.find((one) => one.index === index);
      const account = part?.account ?? accounts[index]?.of(keyAt(this.#keys, index));
      return account?.figuresAt(nowMs) ?? decision!.limits[name]!;
    });
  }

  #nowMs(): number {
    return this.#parts[0]!.account.port.now();
  }
}

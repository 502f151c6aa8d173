import type { Awaitable, Decision, LimitDecision, Store } from '@rollgate/core';
import { type Costs, costAt, isThenable, type Keys, keyAt, PendingResult, readReceipt } from '@rollgate/core/store';
import { leasedResults, noteFigures, resultsOf } from './check-results.js';
import { type CheckedUnits, checkedUnits, type LeasedUnits } from './checked-units.js';
import type { Lease } from './lease.js';
import { toLeasedDecision } from './leased-decision.js';
import type { LeasedPlan } from './leased-plan.js';
import { LeasedReceipt, type SpentUnits } from './leased-receipt.js';
import { rejectionAt } from './local-rejection.js';
import { mapResult } from './map-result.js';
import type { RequestListener } from './unit-request.js';

/** After so many requests for units, which other callers have spent each time, the store decides. */
const MAX_ATTEMPTS = 4;

/** One check of a plan with limits that can be leased. */
export class LeasedCheck implements RequestListener {
  readonly #checked: CheckedUnits;
  #attempts = 0;
  #hasReturnedUnits = false;
  /** The one whose units it waits for. */
  #awaited: LeasedUnits | undefined;
  /** The decision, if it is known before {@link run} returns. */
  #decision: Awaitable<Decision> | undefined;
  #pending: PendingResult<Decision> | undefined;

  constructor(
    private readonly store: Store,
    private readonly plan: LeasedPlan,
    private readonly keys: Keys,
    private readonly costs: Costs,
    nowMs: number,
  ) {
    this.#checked = checkedUnits(plan, keys, costs, nowMs);
  }

  /** Decides at once if this process holds the units. */
  run(nowMs: number): Awaitable<Decision> {
    const decision = this.#attempt(nowMs) ?? this.#decision;
    if (decision !== undefined) return decision;
    this.#pending = new PendingResult();
    return this.#pending;
  }

  /** The units of the one that waits. */
  get units(): number {
    return this.#awaited!.units;
  }

  onEnd(granted: Lease | undefined): void {
    if (this.#pending?.isAbandoned) return;
    const nowMs = this.plan.now();
    const { leased } = this.#checked;
    try {
      const mayUse = granted !== undefined && leased.length === 1 && granted.left >= this.units;
      this.#succeed(mayUse ? this.#spend(leased, [granted], [], nowMs) : this.#attempt(nowMs));
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
    const { leased, others, mayLease } = this.#checked;
    while (mayLease && this.#attempts++ < MAX_ATTEMPTS) {
      const leases = leased.map(({ account, units }) => account.leases.find(units, nowMs));
      if (!leases.includes(undefined)) return this.#spend(leased, leases as Lease[], others, nowMs);
      const lacking = leased.filter((_, position) => leases[position] === undefined);
      const missing = lacking.filter(({ account }) => account.demand.isHigh);
      const cold = lacking.filter(({ account }) => !account.demand.isHigh);
      if (cold.length === leased.length) break;
      const inStore = cold.length === 0 ? others : [...others, ...cold.map(({ index }) => index)].sort((a, b) => a - b);
      if (missing.length === 0) {
        const held = leased.filter((one) => !lacking.includes(one));
        const found = leases.filter((lease) => lease !== undefined);
        return this.#spend(held, found, inStore, nowMs);
      }
      if (inStore.length > 0) return this.#checkInStore(missing);
      if (missing.some(({ account, units }) => account.denialOf(units, nowMs))) return this.#reject(nowMs);
      // Its units would be gone, so the check would wait for two replies.
      if (missing.some(({ account }) => account.isAskingLate)) break;
      const [first, ...rest] = missing;
      for (const { account, units } of rest) account.ask(units, nowMs);
      this.#awaited = first;
      first!.account.askFor(this, nowMs);
      return undefined;
    }
    return this.#checkInStore([]);
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

  /** Spends the units here, then checks the rules in the store that only it decides. */
  #spend(
    leased: readonly LeasedUnits[],
    leases: readonly Lease[],
    inStore: readonly number[],
    nowMs: number,
  ): Awaitable<Decision> {
    const spent = leased.map(({ account, index, units }, position): SpentUnits => {
      const lease = leases[position]!;
      account.spend(lease, units, nowMs);
      return { account, lease, index, units };
    });
    if (inStore.length === 0) return this.#decide(leasedResults(this.plan, this.keys, nowMs, []), spent, undefined);
    return this.#checkOthers(spent, inStore);
  }

  /** Checks the other rules in the store. The spent units return if it rejects. */
  #checkOthers(spent: readonly SpentUnits[], inStore: readonly number[]): Awaitable<Decision> {
    const plan = this.plan;
    const keys = typeof this.keys === 'string' ? this.keys : inStore.map((index) => keyAt(this.keys, index));
    const costs = typeof this.costs === 'number' ? this.costs : inStore.map((index) => costAt(this.costs, index));
    const giveBack = () => {
      for (const { account, lease, units } of spent) {
        const returned = account.giveBack(lease, units);
        if (isThenable(returned)) returned.then(undefined, () => {}); // Units that do not return stay counted.
      }
    };
    return mapResult(
      this.store.check(plan.partOf(inStore), keys, costs),
      (decision): Awaitable<Decision> => {
        const repliedMs = plan.now();
        const isOver = spent.some(({ lease }) => repliedMs >= lease.untilMs);
        if (isOver || !decision.allowed) giveBack();
        if (!decision.allowed && this.#returnUnits(inStore)) return this.#checkInStore([]);
        const results = leasedResults(plan, this.keys, repliedMs, inStore, decision);
        if (!decision.allowed) return this.#decide(results, [], undefined);
        const receipt = readReceipt(decision);
        if (!isOver) return this.#decide(results, spent, receipt, inStore);
        // The store may have stopped counting units that start now.
        return mapResult(this.store.refund(receipt), () => this.#checkInStore([]));
      },
      (error) => {
        giveBack();
        throw error;
      },
    );
  }

  /** Checks all rules in the store. Units that this process holds must not be what rejects the check. */
  #checkInStore(missing: readonly LeasedUnits[]): Awaitable<Decision> {
    const { inner, outer } = this.plan;
    const checked = this.store.check(inner, this.keys, this.costs);
    for (const { account, units } of missing) account.askAhead(units, this.plan.now());
    return mapResult(checked, (decision) => {
      if (!decision.allowed && this.#returnUnits([...outer.rules.keys()])) return this.#checkInStore([]);
      noteFigures(this.plan, decision, this.keys, this.costs);
      return this.#decide(resultsOf(this.plan, decision), [], readReceipt(decision));
    });
  }

  /** Returns the unspent units of these rules to the store, once. Returns whether there were any. */
  #returnUnits(indices: readonly number[]): boolean {
    if (this.#hasReturnedUnits) return false;
    const returned = this.#checked.leased.filter(
      ({ account, index }) => indices.includes(index) && account.returnUnits(),
    );
    this.#hasReturnedUnits = returned.length > 0;
    return this.#hasReturnedUnits;
  }

  #reject(nowMs: number): Decision {
    const results = leasedResults(this.plan, this.keys, nowMs, []);
    for (const { account, index, units } of this.#checked.leased) {
      const denial = account.denialOf(units, nowMs);
      if (denial !== undefined) results[index] = rejectionAt(denial, results[index]!, nowMs);
    }
    return this.#decide(results, [], undefined);
  }

  #decide(
    results: readonly LimitDecision[],
    spent: readonly SpentUnits[],
    inner: unknown,
    inStore: readonly number[] = [],
  ): Decision {
    const hasReceipt = spent.length > 0 || inner !== undefined;
    const receipt = hasReceipt ? new LeasedReceipt(this.plan, this.keys, spent, inner, inStore) : undefined;
    return toLeasedDecision(this.plan.outer, results, receipt, this.costs);
  }
}

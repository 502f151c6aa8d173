import {
  type Clock,
  type Decision,
  type Limit,
  type LimitDecision,
  MemoryStore,
  rollingWindow,
  type Store,
} from '@rollgate/core';
import { type Costs, type Keys, type Plan, type SettledCosts, toDecision } from '@rollgate/core/store';

/** Behaves as a `MemoryStore`. Each class below breaks it in one way. */
export class Wrapper implements Store {
  protected readonly inner: MemoryStore;

  constructor(clock: Clock) {
    this.inner = new MemoryStore({ clock });
  }

  check(plan: Plan, keys: Keys, cost: number): Decision | Promise<Decision> {
    return this.inner.check(plan, keys, cost);
  }

  peek(plan: Plan, keys: Keys, cost: number): Decision {
    return this.inner.peek(plan, keys, cost);
  }

  settle(receipt: unknown, costs: SettledCosts): void {
    this.inner.settle(receipt, costs);
  }

  charge(plan: Plan, keys: Keys, costs: Costs): Decision {
    return this.inner.charge(plan, keys, costs);
  }

  refund(receipt: unknown): void {
    this.inner.refund(receipt);
  }

  release(receipt: unknown): void {
    this.inner.release(receipt);
  }

  reset(plan: Plan, keys: Keys): void {
    this.inner.reset(plan, keys);
  }
}

/** The decision with changed fields in each limit, and without its receipt. */
const withFields = ({ rules }: Plan, { limits }: Decision, fields: Partial<LimitDecision>): Decision => {
  const changed = rules.map(({ name }) => ({ ...limits[name]!, ...fields }));
  return toDecision(rules, changed, undefined);
};

/** The plan with these options in its rolling windows. */
const withOptions = (plan: Plan, options: { limit?: number; countRejected?: boolean }): Plan => {
  const change = (limit: Limit) =>
    limit.algorithm === 'rolling-window'
      ? rollingWindow({ limit: limit.limit, window: limit.windowMicros / 1000, ...options })
      : limit;
  return { ...plan, rules: plan.rules.map((rule) => ({ ...rule, limit: change(rule.limit) })) };
};

export class RecordsRejections extends Wrapper {
  override check(plan: Plan, keys: Keys, cost: number) {
    return this.inner.check(withOptions(plan, { countRejected: true }), keys, cost);
  }
}

export class IgnoresRefunds extends Wrapper {
  override refund(): void {}
}

/** Records no usage above the reservation. */
export class DropsOverdrafts extends Wrapper {
  override settle(receipt: unknown, costs: SettledCosts): void {
    this.inner.settle(receipt, typeof costs === 'number' ? Math.min(costs, 1) : costs);
  }
}

/** Releases no slot. */
export class KeepsSlots extends Wrapper {
  override release(): void {}
}

/** Its leases end even while they are renewed. */
export class IgnoresRenewals extends Wrapper {
  renew(): readonly unknown[] {
    return [];
  }
}

export class IgnoresResets extends Wrapper {
  override reset(): void {}
}

export class ReportsLongWaits extends Wrapper {
  override check(plan: Plan, keys: Keys, cost: number) {
    const decision = this.inner.check(plan, keys, cost);
    const { allowed, retryAfterMs } = decision;
    return allowed ? decision : withFields(plan, decision, { retryAfterMs: retryAfterMs + 0.001 });
  }
}

/** Tests all limits, and records only in the first one. */
export class RecordsOneLimit extends Wrapper {
  override check(plan: Plan, keys: Keys, cost: number) {
    const decision = this.inner.peek(plan, keys, cost);
    const first = { ...plan, rules: plan.rules.slice(0, 1) };
    if (decision.allowed) this.inner.check(first, typeof keys === 'string' ? keys : keys.slice(0, 1), cost);
    return decision;
  }
}

/** Each limit records what it allows, even if another one rejects it. */
export class RecordsSeparately extends Wrapper {
  override check(plan: Plan, keys: Keys, cost: number) {
    const decision = this.inner.peek(plan, keys, cost);
    for (const [index, rule] of plan.rules.entries()) {
      const own = { ...plan, rules: [rule] };
      this.inner.check(own, typeof keys === 'string' ? keys : keys.slice(index, index + 1), cost);
    }
    return decision;
  }
}

/** Other checks can run between the test and the record. */
export class IsNotAtomic extends Wrapper {
  override async check(plan: Plan, keys: Keys, cost: number) {
    const decision = this.inner.peek(plan, keys, cost);
    await Promise.resolve();
    if (decision.allowed) this.inner.check(withOptions(plan, { limit: Number.MAX_SAFE_INTEGER }), keys, cost);
    return decision;
  }
}

export class NeverRejects extends Wrapper {
  override check(plan: Plan, keys: Keys, cost: number) {
    const decision = this.inner.check(plan, keys, cost);
    return decision.allowed ? decision : withFields(plan, decision, { allowed: true, retryAfterMs: 0 });
  }
}

export class NeverDelays extends Wrapper {
  override check(plan: Plan, keys: Keys, cost: number) {
    const decision = this.inner.check(plan, keys, cost);
    return decision.delayMs === 0 ? decision : withFields(plan, decision, { delayMs: 0 });
  }
}

/** Reports every rejection with the reason `limit`. */
export class OmitsMinDifference extends Wrapper {
  override check(plan: Plan, keys: Keys, cost: number) {
    const decision = this.inner.check(plan, keys, cost);
    return decision.reason === 'minDifference' ? withFields(plan, decision, { reason: 'limit' }) : decision;
  }
}

/** Rounds time down to milliseconds. */
export class RoundsTime extends Wrapper {
  constructor(clock: Clock) {
    super({ now: () => Math.floor(clock.now()) });
  }
}

/** Its clock loses a millisecond per second. */
export class LosesTime extends Wrapper {
  constructor(clock: Clock) {
    super({ now: () => clock.now() * 0.999 });
  }
}

export class CountsTwice extends MemoryStore {
  constructor(clock: Clock) {
    super({ clock });
  }

  override addCount(...args: Parameters<MemoryStore['addCount']>) {
    super.addCount(...args);
    return super.addCount(...args);
  }
}

import {
  type Clock,
  type Decision,
  type Limit,
  type LimitDecision,
  MemoryStore,
  rollingWindow,
  type Store,
} from '@rollgate/core';
import { type Keys, type Plan, toDecision } from '@rollgate/core/store';

/** Does all as a `MemoryStore` does; each class below breaks it in one way. */
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

  refund(receipt: unknown): void {
    this.inner.refund(receipt);
  }

  reset(plan: Plan, keys: Keys): void {
    this.inner.reset(plan, keys);
  }
}

/** The decision with other words of each limit; its receipt is lost. */
const withWords = ({ rules }: Plan, { limits }: Decision, words: Partial<LimitDecision>): Decision => {
  const said = rules.map(({ name }) => ({ ...limits[name]!, ...words }));
  return toDecision(rules, said, undefined);
};

/** The plan with rolling windows that differ in this from its own. */
const withOptions = (plan: Plan, options: { limit?: number; countRejected?: boolean }): Plan => {
  const change = (limit: Limit) =>
    limit.algorithm === 'rolling-window'
      ? rollingWindow({ limit: limit.limit, window: limit.windowMicros / 1000, ...options })
      : limit;
  return { ...plan, rules: plan.rules.map((rule) => ({ ...rule, limit: change(rule.limit) })) };
};

export class RecordsRefused extends Wrapper {
  override check(plan: Plan, keys: Keys, cost: number) {
    return this.inner.check(withOptions(plan, { countRejected: true }), keys, cost);
  }
}

export class ForgetsRefunds extends Wrapper {
  override refund(): void {}
}

export class ForgetsResets extends Wrapper {
  override reset(): void {}
}

export class TellsLongWaits extends Wrapper {
  override check(plan: Plan, keys: Keys, cost: number) {
    const decision = this.inner.check(plan, keys, cost);
    const { allowed, retryAfterMs } = decision;
    return allowed ? decision : withWords(plan, decision, { retryAfterMs: retryAfterMs + 0.001 });
  }
}

/** All limits are asked, the first one alone is told of it. */
export class RecordsOneLimit extends Wrapper {
  override check(plan: Plan, keys: Keys, cost: number) {
    const decision = this.inner.peek(plan, keys, cost);
    const first = { ...plan, rules: plan.rules.slice(0, 1) };
    if (decision.allowed) this.inner.check(first, typeof keys === 'string' ? keys : keys.slice(0, 1), cost);
    return decision;
  }
}

/** Each limit records when it allows, whatever the others say. */
export class RecordsApart extends Wrapper {
  override check(plan: Plan, keys: Keys, cost: number) {
    const decision = this.inner.peek(plan, keys, cost);
    for (const [index, rule] of plan.rules.entries()) {
      const own = { ...plan, rules: [rule] };
      this.inner.check(own, typeof keys === 'string' ? keys : keys.slice(index, index + 1), cost);
    }
    return decision;
  }
}

/** Others come between the question and the record. */
export class IsNotAtomic extends Wrapper {
  override async check(plan: Plan, keys: Keys, cost: number) {
    const decision = this.inner.peek(plan, keys, cost);
    await Promise.resolve();
    if (decision.allowed) this.inner.check(withOptions(plan, { limit: Number.MAX_SAFE_INTEGER }), keys, cost);
    return decision;
  }
}

export class NeverRefuses extends Wrapper {
  override check(plan: Plan, keys: Keys, cost: number) {
    const decision = this.inner.check(plan, keys, cost);
    return decision.allowed ? decision : withWords(plan, decision, { allowed: true, retryAfterMs: 0 });
  }
}

export class HoldsNobody extends Wrapper {
  override check(plan: Plan, keys: Keys, cost: number) {
    const decision = this.inner.check(plan, keys, cost);
    return decision.delayMs === 0 ? decision : withWords(plan, decision, { delayMs: 0 });
  }
}

/** Blames the limit for every rejection. */
export class NamesNoOtherRule extends Wrapper {
  override check(plan: Plan, keys: Keys, cost: number) {
    const decision = this.inner.check(plan, keys, cost);
    return decision.reason === 'minDifference' ? withWords(plan, decision, { reason: 'limit' }) : decision;
  }
}

/** Knows whole milliseconds alone. */
export class CutsTime extends Wrapper {
  constructor(clock: Clock) {
    super({ now: () => Math.floor(clock.now()) });
  }
}

/** Loses a millisecond a second. */
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

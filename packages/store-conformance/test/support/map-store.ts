import type { Clock, Decision, Limit, LimitDecision, Store } from '@rollgate/core';
import {
  type Hit,
  type Keys,
  keyAt,
  type Plan,
  type Rule,
  readMicros,
  toDecision,
  type Verdict,
} from '@rollgate/core/store';

/** One life of a key: from its first record until a reset or a new state. */
interface Life {
  /** The limit that recorded last. */
  limit: Limit;
  readonly state: unknown;
}

interface Recorded extends Hit {
  readonly place: string;
  readonly life: Life;
  readonly limit: Limit;
}

/** A store in a `Map`, written from the comments of `Store` and `Limit` alone. It never forgets a key by itself. */
export class MapStore implements Store {
  readonly #clock: Clock;
  readonly #lives = new Map<string, Life>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  check(plan: Plan, keys: Keys, cost: number): Decision {
    return this.#decide(plan, keys, cost, true);
  }

  peek(plan: Plan, keys: Keys, cost: number): Decision {
    return this.#decide(plan, keys, cost, false);
  }

  refund(receipt: unknown): void {
    const now = readMicros(this.#clock);
    for (const hit of receipt as Recorded[]) {
      if (this.#lives.get(hit.place) === hit.life) hit.limit.refund(hit.life.state, now, hit);
    }
  }

  reset(plan: Plan, keys: Keys): void {
    for (const [index, rule] of plan.rules.entries()) this.#lives.delete(placeOf(rule, keyAt(keys, index)));
  }

  #decide({ rules }: Plan, keys: Keys, cost: number, records: boolean): Decision {
    const now = readMicros(this.#clock);
    const places = rules.map((rule, index) => placeOf(rule, keyAt(keys, index)));
    const lives = rules.map(({ limit }, index) => this.#find(places[index]!, limit, now));
    const verdicts = rules.map(({ limit }, index) => test(limit, lives[index], now, cost));
    const allowed = verdicts.every(({ waitMicros }) => waitMicros === 0);
    const receipt: Recorded[] = [];
    const limitDecisions = rules.map(({ limit }, index) => {
      const verdict = verdicts[index]!;
      if (!records || !(allowed || limit.countRejected)) return toLimitDecision(limit, verdict, verdict, allowed);
      const place = places[index]!;
      const life = lives[index] ?? { limit, state: limit.create() };
      life.limit = limit;
      this.#lives.set(place, life);
      const after = limit.record(life.state, now, cost, verdict);
      receipt.push({ place, life, limit, cost, atMicros: verdict.atMicros, recordedMicros: now });
      return toLimitDecision(limit, verdict, allowed ? { ...after, waitMicros: 0 } : after, allowed);
    });
    return toDecision(rules, limitDecisions, receipt.length === 0 ? undefined : receipt);
  }

  #find(place: string, limit: Limit, now: number): Life | undefined {
    const life = this.#lives.get(place);
    if (life === undefined || life.limit.expiresMicros(life.state) <= now) return undefined;
    if (limit.isPlausible(life.state, now)) return life;
    this.#lives.delete(place);
    return undefined;
  }
}

const placeOf = ({ namespace }: Rule, key: string) => JSON.stringify([namespace, key]);

function test(limit: Limit, life: Life | undefined, now: number, cost: number): Verdict {
  const verdict = limit.test(life === undefined ? limit.create() : life.state, now, cost);
  if (life === undefined || life.limit === limit) return verdict;
  const left = life.limit.expiresMicros(life.state) - now;
  return {
    ...verdict,
    waitMicros: cost > limit.limit ? Infinity : Math.min(verdict.waitMicros, left),
    resetMicros: Math.min(verdict.resetMicros, left),
  };
}

function toLimitDecision(limit: Limit, before: Verdict, after: Verdict, allowed: boolean): LimitDecision {
  const passed = before.waitMicros === 0;
  return {
    allowed: passed,
    ...(passed ? {} : { reason: after.reason }),
    limit: limit.limit,
    remaining: after.remaining,
    retryAfterMs: after.waitMicros / 1000,
    resetMs: after.resetMicros / 1000,
    delayMs: allowed ? after.delayMicros / 1000 : 0,
  } as LimitDecision;
}

/** A millisecond in microseconds, the unit of all times here. */
export const MS = 1000;

/** The numbers of a rolling window, in microseconds. */
export interface NaiveLimit {
  limit: number;
  window: number;
  minDifference: number;
  countRejected: boolean;
}

export interface NaiveDecision {
  allowed: boolean;
  violated: string[];
  limits: Record<string, { allowed: boolean; limit: number; remaining: number; retryAfter: number; reset: number }>;
}

/** One time for each unit, oldest first, and the limit that recorded last. */
interface Units {
  times: number[];
  by: NaiveLimit;
}

export interface NaiveReceipt {
  taken: { units: Units; at: number; cost: number }[];
}

const NONE: Units = { times: [], by: { limit: 1, window: 1, minDifference: 0, countRejected: false } };

/** From here on nothing is known: what a limit does not need to remember, a later, longer one cannot ask for. */
const expiry = ({ times, by }: Units) => Math.max(...times) + Math.max(by.window, by.minDifference);

/**
 * The truth that the limiter is held against: every unit's time in a plain list, every question answered by looking at
 * all of them, every wait found by trying all moments at which anything can change. Slow and short.
 */
export class NaiveLog {
  readonly #keys = new Map<string, Units>();

  check(limits: Record<string, NaiveLimit>, keys: Record<string, string>, cost: number, now: number, record = true) {
    const names = Object.keys(limits);
    for (const name of names) this.#forgetBrokenClock(`${name} ${keys[name]}`, now);
    const passed = new Map(names.map((name) => [name, this.#wait(name, limits, keys, cost, now) === 0]));
    const allowed = names.every((name) => passed.get(name));
    const receipt: NaiveReceipt = { taken: [] };
    const recorded = names.filter((name) => record && (allowed || limits[name]!.countRejected));
    for (const name of recorded) this.#record(name, limits, keys, cost, now, receipt);
    const decision: NaiveDecision = { allowed, violated: names.filter((name) => !passed.get(name)), limits: {} };
    for (const name of names) {
      const limit = limits[name]!;
      const units = this.#live(name, keys[name]!, now);
      const live = units?.times.filter((time) => time > Math.max(now, ...units.times) - limit.window) ?? [];
      decision.limits[name] = {
        allowed: passed.get(name)!,
        limit: limit.limit,
        remaining: Math.max(0, limit.limit - live.length),
        retryAfter: allowed ? 0 : this.#wait(name, limits, keys, cost, now),
        reset: live.length === 0 ? 0 : Math.min(Math.max(...live) + limit.window, expiry(units!)) - now,
      };
    }
    return { decision, receipt };
  }

  refund(receipt: NaiveReceipt): void {
    for (const { units, at, cost } of receipt.taken.splice(0)) {
      for (let unit = 0; unit < cost; unit++) {
        const index = units.times.indexOf(at);
        if (index >= 0) units.times.splice(index, 1);
      }
      for (const [key, held] of this.#keys) if (held === units && units.times.length === 0) this.#keys.delete(key);
    }
  }

  reset(names: string[], keys: Record<string, string>): void {
    for (const name of names) this.#keys.delete(`${name} ${keys[name]}`);
  }

  #live(name: string, key: string, now: number): Units | undefined {
    const units = this.#keys.get(`${name} ${key}`);
    if (units === undefined) return undefined;
    return expiry(units) <= now ? undefined : units;
  }

  #forgetBrokenClock(key: string, now: number): void {
    const units = this.#keys.get(key);
    if (units !== undefined && Math.max(...units.times) - now > units.by.window) this.#keys.delete(key);
  }

  #wait(name: string, limits: Record<string, NaiveLimit>, keys: Record<string, string>, cost: number, now: number) {
    const { limit, window, minDifference } = limits[name]!;
    const known = this.#live(name, keys[name]!, now) ?? NONE;
    const newest = Math.max(...known.times);
    const moments = [now, ...known.times.map((time) => time + window), newest + minDifference, expiry(known)];
    const allowedAt = moments.filter((moment) => {
      if (moment < now) return false;
      const { times } = this.#live(name, keys[name]!, moment) ?? NONE;
      const at = Math.max(moment, ...times);
      const isApart = at - Math.max(...times) >= minDifference;
      return isApart && times.filter((time) => time > at - window).length + cost <= limit;
    });
    return Math.min(...allowedAt) - now;
  }

  #record(
    name: string,
    limits: Record<string, NaiveLimit>,
    keys: Record<string, string>,
    cost: number,
    now: number,
    receipt: NaiveReceipt,
  ): void {
    const limit = limits[name]!;
    const units = this.#live(name, keys[name]!, now) ?? { times: [], by: limit };
    const at = Math.max(now, ...units.times);
    units.times = units.times.filter((time) => time > at - Math.max(limit.window, limit.minDifference));
    units.times.push(...new Array<number>(cost).fill(at));
    if (limit.countRejected) units.times = units.times.slice(-limit.limit);
    units.by = limit;
    this.#keys.set(`${name} ${keys[name]}`, units);
    receipt.taken.push({ units, at, cost });
  }
}

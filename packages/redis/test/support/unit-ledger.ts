import type { Decision } from '@rollgate/core';

/** A check of one key, as its caller saw it. */
interface Entry {
  readonly cost: number;
  readonly sentMs: number;
  /** `undefined` while the check is in flight. `failed` if it is unknown whether Redis has recorded it. */
  outcome: 'allowed' | 'rejected' | 'failed' | undefined;
  repliedMs: number;
  refund: 'sent' | 'done' | undefined;
  refundedMs: number;
}

/**
 * A naive oracle for a key whose calls may fail: the list of all checks. It knows the least and the most units that Redis can
 * hold, and when a decision is wrong for every possible fate of the failed calls.
 */
export class UnitLedger {
  readonly #entries: Entry[] = [];
  readonly #decided = new WeakMap<Decision, Entry>();

  /**
   * @param limit The units of a limit that does not free any during the test.
   * @param breaksMs When connections broke. Clients may then send a check again, which counts twice.
   */
  constructor(
    private readonly limit: number,
    private readonly breaksMs: readonly number[],
  ) {}

  /** The units that Redis holds for certain. */
  get least(): number {
    return sum(this.#entries.filter(({ outcome, refund }) => outcome === 'allowed' && refund === undefined));
  }

  /** The units that Redis may hold. */
  get most(): number {
    return Math.min(this.limit, this.#mostSince(now()));
  }

  /** The number of checks with this outcome. */
  count(outcome: 'allowed' | 'rejected' | 'failed'): number {
    return this.#entries.filter((entry) => entry.outcome === outcome).length;
  }

  /** Runs a check, and returns its decision unless it fails. */
  async check(cost: number, run: () => Promise<Decision>): Promise<Decision | undefined> {
    const entry: Entry = {
      cost,
      sentMs: now(),
      outcome: undefined,
      repliedMs: Infinity,
      refund: undefined,
      refundedMs: Infinity,
    };
    this.#entries.push(entry);
    const [settled] = await Promise.allSettled([run()]);
    entry.repliedMs = now();
    if (settled.status === 'rejected') {
      entry.outcome = 'failed';
      return undefined;
    }
    const decision = settled.value;
    entry.outcome = decision.allowed ? 'allowed' : 'rejected';
    const { least, most } = this;
    const about = `${entry.outcome} for ${cost} of ${this.limit}, of which ${least} to ${most} are used`;
    const isRight = decision.allowed ? least <= this.limit : this.#mostSince(entry.sentMs) + cost > this.limit;
    expect([about, isRight]).toEqual([about, true]);
    this.#decided.set(decision, entry);
    return decision;
  }

  /** Runs a refund of a decision of this ledger. */
  async refund(decision: Decision, run: () => Promise<void>): Promise<void> {
    const entry = this.#decided.get(decision)!;
    entry.refund = 'sent';
    const [settled] = await Promise.allSettled([run()]);
    if (settled.status === 'rejected') return;
    entry.refund = 'done';
    entry.refundedMs = now();
  }

  /** The units that Redis may have held at some time since `sinceMs`. */
  #mostSince(sinceMs: number): number {
    return this.#entries.reduce((units, { cost, sentMs, outcome, repliedMs, refundedMs }) => {
      const untilMs = outcome === 'failed' ? now() : repliedMs;
      const repeats = this.breaksMs.filter((breakMs) => breakMs >= sentMs && breakMs <= untilMs).length;
      const isHeld = outcome !== 'rejected' && refundedMs >= sinceMs;
      return units + cost * (repeats + (isHeld ? 1 : 0)); // A refund returns one of them.
    }, 0);
  }
}

/** The most checks whose records certainly lie within one window, by when they were sent and when their replies came. */
export function mostWithin(
  windowMs: number,
  checks: readonly { readonly sentMs: number; readonly repliedMs: number }[],
): number {
  const counts = checks.map(
    ({ repliedMs: end }) =>
      checks.filter(({ sentMs, repliedMs }) => sentMs > end - windowMs && repliedMs <= end).length,
  );
  return Math.max(0, ...counts);
}

const now = () => performance.now();
const sum = (entries: readonly Entry[]) => entries.reduce((units, { cost }) => units + cost, 0);

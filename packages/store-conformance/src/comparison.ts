import type { Decision, Limit, RateLimiter } from '@rollgate/core';
import type { Command } from './arbitraries.js';
import { MS, type NaiveLimit, NaiveLog, type NaiveReceipt } from './naive-log.js';
import type { TestClock } from './test-clock.js';
import { expected, keysFor, toLimits } from './translate.js';

type ChecksOf = Extract<Command, { kind: 'check' | 'peek' }>;

/** Lets a limiter and a naive log live through the same history, and expects the same decisions of both. */
export class Comparison {
  readonly #limiter: RateLimiter;
  readonly #clock: TestClock;
  readonly #naive = new NaiveLog();
  readonly #made: { decision: Decision; receipt: NaiveReceipt }[] = [];
  #naiveLimits: Record<string, NaiveLimit>;
  #limits: Readonly<Record<string, Limit>>;

  constructor(limiter: RateLimiter, limits: Record<string, NaiveLimit>, clock: TestClock) {
    this.#limiter = limiter;
    this.#clock = clock;
    this.#naiveLimits = limits;
    this.#limits = toLimits(limits);
  }

  async run(command: Command): Promise<void> {
    this.#clock.micros += command.step;
    if (command.kind === 'change') {
      this.#naiveLimits = command.limits;
      this.#limits = toLimits(command.limits);
    } else if (command.kind === 'refund') {
      const past = this.#made[command.which % this.#made.length];
      if (past === undefined) return;
      await this.#limiter.refund(past.decision);
      this.#naive.refund(past.receipt);
    } else if (command.kind === 'reset') {
      const keys = keysFor(this.#naiveLimits, command.keys);
      await this.#limiter.reset(keys, { limits: this.#limits });
      this.#naive.reset(Object.keys(this.#naiveLimits), keys);
    } else {
      await this.#check(command);
    }
  }

  async #check({ kind, keys: given, cost }: ChecksOf): Promise<void> {
    const keys = keysFor(this.#naiveLimits, given);
    const options = { cost, limits: this.#limits };
    const decision = await this.#limiter[kind](keys, options);
    const truth = this.#naive.check(this.#naiveLimits, keys, cost, this.#clock.micros, kind === 'check');
    expect(decision).toEqual(expected(truth.decision));
    if (kind === 'check') this.#made.push({ decision, receipt: truth.receipt });
    if (decision.allowed || decision.retryAfterMs === Infinity) return;
    const asked = this.#clock.micros;
    this.#clock.micros = asked + Math.round(decision.retryAfterMs * MS) - 1;
    expect((await this.#limiter.peek(keys, options)).allowed).toBe(false);
    this.#clock.micros += 1;
    expect((await this.#limiter.peek(keys, options)).allowed).toBe(true);
    this.#clock.micros = asked;
  }
}

import { createDeferred, type Deferred } from '../base/deferred.js';
import { getOrInsert } from '../base/get-or-insert.js';
import type { Decision } from '../decision/decision.js';
import { costAt } from '../plan/plan.js';
import { firstOf, holdersOf, namesOf, type QuotaQueues, type QuotaWaiter, queuesOf } from '../store/quota-waiters.js';
import { tooManyWaiting } from '../validation/wait-errors.js';
import type { WaitCall } from './wait-call.js';

/**
 * The places of a waiting caller in the queues of the states that it needs. It starts before all later callers that need the
 * state for which it waits. Callers that need only others of its states pass. So a client that has used up its own limit holds
 * up no other client at a limit that they share.
 */
export class Ticket implements QuotaWaiter {
  readonly #queues: QuotaQueues;
  /** By the names of the limits. A limit with cost 0 keeps no caller. */
  readonly states = new Map<string, string>();
  readonly #units = new Map<string, number>();
  readonly #maxWaiting: number;
  #woken = createDeferred();
  /** The state that keeps the caller. While it attempts, it holds all of them, so that no later one attempts as well. */
  #keptBy: string | undefined;
  #lastKeptBy: string | undefined;
  /** How often another state has begun to keep the caller since an earlier caller last held it up. */
  #moves = 0;
  isBehind = false;

  constructor({ store, plan, keys, costs, maxWaiting }: WaitCall) {
    const names = namesOf(store, plan, keys);
    this.#queues = queuesOf(store);
    this.#maxWaiting = maxWaiting;
    plan.rules.forEach(({ name }, index) => {
      const state = names[index]!;
      const units = costAt(costs, index);
      if (units === 0) return;
      this.states.set(name, state);
      this.#units.set(state, units);
      getOrInsert(this.#queues, state, () => new Set()).add(this);
    });
  }

  /** Returns what {@link wake} resolves from now on. */
  watch(): Deferred {
    this.#woken = createDeferred();
    return this.#woken;
  }

  wake(): void {
    this.#woken.resolve();
  }

  get hasWaited(): boolean {
    return this.#lastKeptBy !== undefined;
  }

  unitsOf(state: string): number {
    return this.#keptBy === undefined || this.#keptBy === state ? this.#units.get(state)! : 0;
  }

  /**
   * Whether no earlier caller holds one of the states, so that the caller may attempt. Otherwise it is woken later.
   *
   * @throws The error of `maxWaiting`.
   */
  takeTurn(): boolean {
    this.#keptBy = undefined;
    const taken = [...this.states.values()].find((state) => firstOf(this.#queues, state) !== this);
    this.isBehind = taken !== undefined;
    if (taken !== undefined) this.#waitFor(taken);
    return !this.isBehind;
  }

  /**
   * Waits for the limit with the longest wait.
   *
   * @throws The error of `maxWaiting`.
   */
  waitAfter({ violated, limits }: Decision): void {
    const [longest] = [...violated].sort((one, other) => limits[other]!.retryAfterMs - limits[one]!.retryAfterMs);
    const state = this.states.get(longest!);
    if (state !== undefined) this.#waitFor(state);
  }

  leave(): void {
    for (const state of this.states.values()) {
      const queue = this.#queues.get(state);
      queue?.delete(this);
      if (queue?.size === 0) this.#queues.delete(state);
    }
    this.#letPass();
  }

  #waitFor(state: string): void {
    const isFirstWait = !this.hasWaited && this.#maxWaiting < Infinity;
    if (isFirstWait && holdersOf(this.#queues, state).indexOf(this) >= this.#maxWaiting) {
      throw tooManyWaiting(this.#maxWaiting);
    }
    // Callers that need fewer states could otherwise take each one while this caller waits for another one, for ever.
    // Earlier callers cannot, because there are only so many of them.
    if (this.isBehind) this.#moves = 0;
    else if (state !== this.#lastKeptBy) this.#moves += 1;
    this.#lastKeptBy = state;
    if (this.#moves > this.states.size) return;
    this.#keptBy = state;
    this.#letPass();
  }

  /** Wakes the callers that are no longer behind this one. */
  #letPass(): void {
    for (const state of this.states.values()) {
      const first = firstOf(this.#queues, state);
      if (first?.isBehind) first.wake();
    }
  }
}

import { createDeferred, type Deferred } from '../base/deferred.js';
import { getOrInsert } from '../base/get-or-insert.js';
import type { Decision } from '../decision/decision.js';
import { costAt } from '../plan/plan.js';
import { firstOf, namesOf, type QuotaQueues, type QuotaWaiter, queuesOf } from '../store/quota-waiters.js';
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
  readonly #maxWaiting: number;
  #woken = createDeferred();
  /** The state that keeps the caller. While it attempts, it holds all of them, so that no later one attempts as well. */
  #keptBy: string | undefined;
  #lastKeptBy: string | undefined;
  /** How often another state has begun to keep the caller. */
  #moves = 0;
  isBehind = false;

  constructor({ store, plan, keys, costs, maxWaiting }: WaitCall) {
    const names = namesOf(store, plan, keys);
    this.#queues = queuesOf(store);
    this.#maxWaiting = maxWaiting;
    plan.rules.forEach(({ name }, index) => {
      if (costAt(costs, index) > 0) this.states.set(name, names[index]!);
    });
    for (const state of this.states.values()) getOrInsert(this.#queues, state, () => new Set()).add(this);
  }

  /** Returns what {@link wake} resolves from now on. */
  watch(): Deferred {
    this.#woken = createDeferred();
    return this.#woken;
  }

  wake(): void {
    this.#woken.resolve();
  }

  holds(state: string): boolean {
    return this.#keptBy === undefined || this.#keptBy === state;
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
    const waitOf = (name: string) => limits[name]?.retryAfterMs ?? 0;
    const longest = violated.reduce((one, other) => (waitOf(other) > waitOf(one) ? other : one), '');
    const state = this.states.get(longest);
    if (state !== undefined) this.#waitFor(state);
  }

  leave(): void {
    for (const state of this.states.values()) {
      this.#queues.get(state)?.delete(this);
      if (this.#queues.get(state)?.size === 0) this.#queues.delete(state);
    }
    this.#letPass();
  }

  #waitFor(state: string): void {
    if (this.#moves === 0 && this.#maxWaiting < Infinity) this.#throwIfFull(state);
    if (state !== this.#lastKeptBy) this.#moves += 1;
    this.#lastKeptBy = state;
    // Callers that need fewer states could otherwise take each one while this caller waits for another one, for ever.
    if (this.#moves > this.states.size) return;
    this.#keptBy = state;
    this.#letPass();
  }

  #throwIfFull(state: string): void {
    let ahead = 0;
    for (const waiter of this.#queues.get(state)!) {
      if (waiter === this) break;
      if (waiter.holds(state)) ahead += 1;
    }
    if (ahead >= this.#maxWaiting) throw tooManyWaiting(this.#maxWaiting);
  }

  /** Wakes the callers that are no longer behind this one. */
  #letPass(): void {
    for (const state of this.states.values()) {
      const first = firstOf(this.#queues, state);
      if (first?.isBehind) first.wake();
    }
  }
}

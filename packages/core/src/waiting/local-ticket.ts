import type { Decision } from '../decision/decision.js';
import { closesUsedUp, isConstant } from '../limits/limit.js';
import { costAt } from '../plan/plan.js';
import {
  enterQueue,
  holdersOf,
  leaveQueue,
  namesOf,
  type QuotaQueues,
  type QuotaWaiter,
  queuesOf,
} from '../store/quota-waiters.js';
import type { Store, StoreWait } from '../store/store.js';
import { createDeferred } from '../util/awaitable.js';
import { tooManyWaiting } from '../validation/errors.js';

let nextNumber = 0;

/**
 * The places of a waiting caller in the queues of the states that it needs. It starts before all later callers that need the
 * state for which it waits. Callers that need only others of its states pass. So a client that has used up its own limit holds
 * up no other client at a limit that they share.
 */
export class LocalTicket implements QuotaWaiter {
  readonly number = nextNumber++;
  readonly #queues: QuotaQueues;
  /** By the names of the limits. A limit with cost 0 keeps no caller. */
  readonly states = new Map<string, string>();
  readonly units = new Map<string, number>();
  readonly #maxWaiting: number;
  /** What wakes the caller. Each attempt has its own. */
  woken = createDeferred();
  /** Whether the store has rejected the caller, so that it waits for quota. Those behind it wait, too. */
  #isRejected = false;
  /** Whether the caller is one of those that may wait. */
  #isAdmitted = false;
  #lastKeptBy: string | undefined;
  /** How often another state has begun to keep the caller since an earlier caller last held it up. */
  #moves = 0;
  isBehind = false;

  constructor({ store, plan, keys, costs, maxWaiting }: StoreWait & { readonly store: Store }) {
    const names = namesOf(store, plan, keys);
    this.#queues = queuesOf(store);
    this.#maxWaiting = maxWaiting;
    plan.rules.forEach(({ name, limit }, index) => {
      const state = names[index]!;
      const units = costAt(costs, index);
      if (units === 0 || isConstant(limit) || closesUsedUp(limit) || limit.enforced === false) return;
      this.states.set(name, state);
      this.units.set(state, units);
    });
  }

  get hasWaited(): boolean {
    return this.#lastKeptBy !== undefined;
  }

  /**
   * Whether no earlier caller holds one of the states, so that the caller may attempt. Otherwise it is woken later. While it
   * attempts, it holds all of its states, so that no later one attempts as well.
   *
   * @throws The error of `maxWaiting`.
   */
  takeTurn(): boolean {
    const [taken] = [...this.states.values()].filter((state) => !enterQueue(this.#queues, state, this));
    this.isBehind = !!taken;
    if (taken) this.#waitFor(taken);
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
    if (!state) return;
    const isFirst = !this.#isRejected;
    this.#isRejected = true;
    this.#waitFor(state);
    if (isFirst) this.#refuseOthers(state);
  }

  #waitFor(state: string): void {
    this.#admit(state);
    // Callers that need fewer states could otherwise take each one while this caller waits for another one, for ever.
    // Earlier callers cannot, because there are only so many of them.
    if (this.isBehind) this.#moves = 0;
    else if (state !== this.#lastKeptBy) this.#moves += 1;
    this.#lastKeptBy = state;
    if (this.#moves <= this.states.size) this.leave(state);
  }

  /**
   * Counts the callers ahead that wait, which are the first rejected one and all behind it. While the first attempt of a caller is on
   * its way to the store, it is unknown whether those behind it must wait.
   *
   * @throws The error of `maxWaiting`.
   */
  #admit(state: string): void {
    if (this.#isAdmitted) return;
    const holders = this.#holdersOf(state);
    const first = holders.findIndex((holder) => holder.#isRejected);
    const own = holders.lastIndexOf(this);
    if (first < 0 || first > own) return;
    if (own - first >= this.#maxWaiting) throw tooManyWaiting(this.#maxWaiting);
    this.#isAdmitted = true;
  }

  /** Wakes the callers that are too many now that this one waits. Their next turn throws. */
  #refuseOthers(state: string): void {
    const holders = this.#holdersOf(state);
    for (const holder of holders.slice(holders.indexOf(this) + this.#maxWaiting)) {
      if (holder !== this && !holder.#isAdmitted) holder.woken.resolve();
    }
  }

  #holdersOf(state: string): LocalTicket[] {
    return holdersOf(this.#queues, state) as LocalTicket[];
  }

  /**
   * Leaves the queues, and wakes the callers that are no longer behind this one. A caller that attempts again has its old place.
   *
   * @param keptBy The state that keeps the caller, if it waits.
   */
  leave(keptBy?: string): void {
    for (const state of this.states.values()) {
      if (state === keptBy) continue;
      const first = leaveQueue(this.#queues, state, this);
      if (first?.isBehind) first.woken.resolve();
    }
  }
}

import type { Decision, LimitDecision } from '@rollgate/core';
import { type Costs, toDecision } from '@rollgate/core/store';
import type { CheckInput, CheckResult } from '../operations/operations.js';
import { performance } from '../util/platform.js';
import { type Denial, type DenialCost, type DenialGroup, isValid, limitDecisionsAt } from './denial.js';
import { DenialGroups } from './denial-groups.js';

/** A check or a peek that was sent. */
export interface SentCheck extends CheckInput {
  readonly kind: 'check' | 'peek';
  /** The cache's `changeCount` when it was sent. */
  readonly changeCount: number;
}

/** How many costs of one plan and keys the cache keeps, the newest ones. */
const MAX_COSTS = 64;

/**
 * A full cache drops one denial for each so many of its size, the oldest ones at once. V8 leaves a gap where an item was deleted
 * from a `Set`, and passes all gaps to find the first item. One denial at a time, that took longer than a check.
 */
const DENIALS_PER_DROP = 500;

/**
 * Keeps rejections by Redis, called denials, and rejects the same check from memory while they are valid. A rejected action
 * stays rejected until its wait is over, whatever other processes record.
 *
 * A denial ends when its store records in, resets or refunds one of its keys. It is valid only until something other
 * than its waits could change. So while no other store uses the keys, the cache returns what Redis would return.
 *
 * A denial may be outdated by up to `maxAgeMs` when another store or process changes its keys.
 */
export class DenialCache {
  /** How many changes of states by anything but a check have started or ended. */
  changeCount = 0;
  readonly #maxAgeMs: number;
  readonly #maxKeys: number;
  /** In insertion order, so that the oldest is dropped first. */
  readonly #denials = new Set<Denial>();
  readonly #groups = new DenialGroups();

  constructor(maxAgeMs: number, maxKeys: number) {
    this.#maxAgeMs = maxAgeMs;
    this.#maxKeys = maxKeys;
  }

  /** The rejection of this check, if a valid denial is known. */
  find(input: CheckInput): Decision | undefined {
    const group = this.#denials.size === 0 ? undefined : this.#groups.find(input);
    if (group === undefined) return undefined;
    const { encodedPlan, costs } = input;
    const nowMs = performance.now();
    const nowMicros = input.clockMicros ?? toMicros(nowMs);
    const limitDecisions = this.#limitDecisionsOf(group, costs, nowMicros, nowMs);
    return limitDecisions && toDecision(encodedPlan.plan.rules, limitDecisions, undefined, costs);
  }

  /** Keeps the result of a check or a peek if it is a denial, or drops the denials that it has ended. */
  update(check: SentCheck, result: CheckResult, allowed: boolean, sentMs: number): void {
    // A check that recorded has changed the state. An allowed peek shows that another process may have reset the keys.
    const mayHaveChanged = check.kind === 'check' ? result.receipt !== undefined : allowed;
    if (!mayHaveChanged) this.#add(check, result, sentMs);
    else if (this.#denials.size > 0) this.invalidate(check.keys);
  }

  /** Drops all denials that use one of these keys. */
  invalidate(keys: readonly string[]): void {
    if (this.#denials.size === 0) return;
    for (const group of this.#groups.ofKeys(keys)) this.#dropGroup(group);
  }

  /** Notes that a change of these keys by anything but a check starts or has ended. */
  noteChange(keys: readonly string[]): void {
    this.changeCount += 1;
    this.invalidate(keys);
  }

  /** Notes that the clock has stepped back, so an earlier state may apply again. */
  noteClockStep(): void {
    this.changeCount += 1;
    this.#denials.clear();
    this.#groups.clear();
  }

  #limitDecisionsOf(group: DenialGroup, costs: Costs, nowMicros: number, nowMs: number): LimitDecision[] | undefined {
    const denial = group.denials.get(denialCostOf(costs));
    if (denial === undefined) return undefined;
    if (isValid(denial, nowMicros, nowMs)) return limitDecisionsAt(denial, nowMicros);
    this.#drop(denial);
    return undefined;
  }

  /** Keeps the denial of a check that recorded nothing, unless its plan allows none. */
  #add(check: SentCheck, { limitDecisions, stableMicros }: CheckResult, sentMs: number): void {
    const { encodedPlan, clockMicros } = check;
    // Its limits may have ruled out the state, and dropped it.
    for (const group of this.#groups.ofKeys(check.keys)) {
      if (group.encodedPlan.text !== encodedPlan.text) this.#dropGroup(group);
    }
    if (check.kind !== 'check' || check.changeCount !== this.changeCount) return;
    const nowMs = performance.now();
    const sentMicros = clockMicros ?? sentMs * 1000;
    const receivedMicros = clockMicros ?? toMicros(nowMs);
    if (!encodedPlan.isCacheable || receivedMicros - sentMicros >= stableMicros) return;
    const cost = denialCostOf(check.costs);
    this.#makeRoom(this.#groups.find(check), cost);
    const group = this.#groups.find(check) ?? this.#groups.add(check);
    const denial: Denial = {
      cost,
      group,
      // Copies, because the caller's decision contains the originals.
      limitDecisions: limitDecisions.map((decision) => ({ ...decision })),
      stableMicros,
      sentMicros,
      receivedMicros,
      expiresMicros: receivedMicros + this.#maxAgeMs * 1000,
      expiresMs: nowMs + this.#maxAgeMs,
    };
    group.denials.set(cost, denial);
    this.#denials.add(denial);
  }

  #makeRoom(group: DenialGroup | undefined, cost: DenialCost): void {
    if (group !== undefined) {
      const { denials } = group;
      const replaced = denials.get(cost) ?? (denials.size >= MAX_COSTS ? first(denials.values()) : undefined);
      if (replaced !== undefined) this.#drop(replaced);
    }
    if (this.#denials.size < this.#maxKeys) return;
    const leftCount = this.#maxKeys - Math.ceil(this.#maxKeys / DENIALS_PER_DROP);
    for (const denial of this.#denials) {
      if (this.#denials.size === leftCount) return;
      this.#drop(denial);
    }
  }

  #dropGroup({ denials }: DenialGroup): void {
    for (const denial of denials.values()) this.#drop(denial);
  }

  #drop(denial: Denial): void {
    const { group, cost } = denial;
    this.#denials.delete(denial);
    group.denials.delete(cost);
    if (group.denials.size === 0) this.#groups.delete(group);
  }
}

function denialCostOf(costs: Costs): DenialCost {
  return typeof costs === 'number' ? costs : costs.join();
}

/** Whole microseconds, because waits are whole microseconds as well. */
function toMicros(ms: number): number {
  return Math.floor(ms * 1000);
}

function first<Item>(items: Iterable<Item>): Item | undefined {
  return items[Symbol.iterator]().next().value;
}

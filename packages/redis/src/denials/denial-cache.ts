import type { Decision } from '@rollgate/core';
import { type Costs, toDecision } from '@rollgate/core/store';
import { performance } from '../base/platform.js';
import type { CheckInput, CheckResult } from '../operations/operations.js';
import {
  type CachedDenial,
  type CheckTimes,
  type DenialCost,
  type DenialGroup,
  isValid,
  limitDecisionsAt,
} from './cached-denial.js';
import { estimateDenial } from './denial-estimate.js';
import { KeyChangeTracker } from './key-change-tracker.js';

/** Options of {@link DenialCache}. */
export interface DenialCacheOptions {
  /** For how long a denial is valid at most, in milliseconds. */
  readonly maxAgeMs: number;
  /** How many denials the cache keeps at most. */
  readonly maxKeys: number;
}

/**
 * How many costs of one plan and keys the cache keeps exactly. It estimates the denials of further costs. Without estimates,
 * a client that chooses the cost could cause any number of scripts.
 */
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
 * A denial is void when this process records in, resets or refunds one of its keys. It is valid only until something other
 * than its waits could change. So within one process, the cache returns what Redis would return.
 *
 * There are two exceptions. A denial may be outdated by up to `maxAgeMs` when another process changes its keys. After
 * {@link MAX_COSTS} costs, the estimated wait of a further one may be too long, up to the reset. Its reason may then be `'limit'`
 * instead of `'minDifference'`.
 */
export class DenialCache {
  readonly #maxAgeMs: number;
  readonly #maxKeys: number;
  /** How many costs of a group must be known before the cache estimates further ones. */
  readonly #minCostsForEstimate: number;
  /** In insertion order, so that the oldest is dropped first. */
  readonly #denials = new Set<CachedDenial>();
  readonly #groups = new Map<string, DenialGroup>();
  readonly #keyChanges = new KeyChangeTracker();

  constructor({ maxAgeMs, maxKeys }: DenialCacheOptions) {
    this.#maxAgeMs = maxAgeMs;
    this.#maxKeys = maxKeys;
    this.#minCostsForEstimate = Math.min(MAX_COSTS, maxKeys);
  }

  get isEmpty(): boolean {
    return this.#denials.size === 0;
  }

  /** The rejection of this check, if a valid denial is known. */
  find(input: CheckInput, nowMicros: number): Decision | undefined {
    if (!this.#keyChanges.has(input.keys.at(-1)!)) return undefined;
    const group = this.#groups.get(groupId(input));
    if (group === undefined || this.#dropIfVoid(group)) return undefined;
    const nowMs = performance.now();
    const { costs } = input;
    const denial = group.denials.get(denialCostOf(costs));
    if (denial === undefined) {
      return typeof costs === 'number' ? this.#estimate(group, costs, nowMicros, nowMs) : undefined;
    }
    if (isValid(denial, nowMicros, nowMs)) {
      return toDecision(input.encodedPlan.plan.rules, limitDecisionsAt(denial, nowMicros), undefined, costs);
    }
    this.#drop(denial);
    return undefined;
  }

  /** Drops the group if one of its keys has changed, and returns whether it did. */
  #dropIfVoid(group: DenialGroup): boolean {
    const { trackedKeys, versions, denials } = group;
    if (trackedKeys.every(({ version }, index) => version === versions[index])) return false;
    for (const denial of denials.values()) this.#drop(denial);
    return true;
  }

  /** Estimates the denial of an unknown cost from the next known cost above or below it. */
  #estimate(group: DenialGroup, cost: number, nowMicros: number, nowMs: number): Decision | undefined {
    const { denials, encodedPlan } = group;
    if (cost === 0 || denials.size < this.#minCostsForEstimate) return undefined; // No limit rejects a cost of 0.
    let [below, above] = [-Infinity, Infinity];
    for (const denial of denials.values()) {
      const known = denial.cost;
      if (typeof known === 'string' || !isValid(denial, nowMicros, nowMs)) continue;
      if (known > cost) above = Math.min(above, known);
      else below = Math.max(below, known);
    }
    const { rules } = encodedPlan.plan;
    for (const known of [above, below]) {
      const denial = denials.get(known);
      const estimated = denial && estimateDenial(rules, limitDecisionsAt(denial, nowMicros), known, cost);
      if (estimated !== undefined) return toDecision(rules, estimated, undefined);
    }
    return undefined;
  }

  /** Notes a check or peek in Redis that recorded nothing. It may still have dropped a state that its limits rule out. */
  noteCheck({ encodedPlan, keys }: CheckInput): void {
    if (!this.#keyChanges.isEmpty) this.#keyChanges.noteCheck(keys, encodedPlan.text);
  }

  /** Keeps a denial, unless its plan allows none. */
  add(input: CheckInput, result: CheckResult, { sentMicros, receivedMicros }: CheckTimes): void {
    const { encodedPlan } = input;
    const cost = denialCostOf(input.costs);
    const { stableMicros } = result;
    if (!encodedPlan.isCacheable || receivedMicros - sentMicros >= stableMicros) return;
    this.#makeRoom(input);
    const group = this.#groupOf(input);
    const expiresMs = performance.now() + this.#maxAgeMs;
    const expiresMicros = receivedMicros + this.#maxAgeMs * 1000;
    // Copies, because the caller's decision contains the originals.
    const limitDecisions = result.limitDecisions.map((decision) => ({ ...decision }));
    const denial = { cost, group, limitDecisions, stableMicros, sentMicros, receivedMicros, expiresMicros, expiresMs };
    group.denials.set(cost, denial);
    this.#denials.add(denial);
  }

  /** Makes all denials void that use one of these keys. */
  invalidate(keys: readonly string[]): void {
    if (!this.#keyChanges.isEmpty) this.#keyChanges.noteChange(keys);
  }

  clear(): void {
    this.#denials.clear();
    this.#groups.clear();
    this.#keyChanges.clear();
  }

  #makeRoom(input: CheckInput): void {
    const group = this.#groups.get(groupId(input));
    if (group !== undefined && !this.#dropIfVoid(group)) {
      const { denials } = group;
      const replaced =
        denials.get(denialCostOf(input.costs)) ?? (denials.size >= MAX_COSTS ? first(denials.values()) : undefined);
      if (replaced !== undefined) this.#drop(replaced);
    }
    if (this.#denials.size >= this.#maxKeys) this.#dropOldest();
  }

  #dropOldest(): void {
    const leftCount = this.#maxKeys - Math.ceil(this.#maxKeys / DENIALS_PER_DROP);
    for (const denial of this.#denials) {
      if (this.#denials.size === leftCount) return;
      this.#drop(denial);
    }
  }

  #groupOf(input: CheckInput): DenialGroup {
    const id = groupId(input);
    let group = this.#groups.get(id);
    if (group === undefined) {
      const { encodedPlan, keys } = input;
      const trackedKeys = this.#keyChanges.track(keys, encodedPlan.text);
      const versions = trackedKeys.map(({ version }) => version);
      group = { id, encodedPlan, keys, denials: new Map(), trackedKeys, versions };
      this.#groups.set(id, group);
    }
    return group;
  }

  #drop(denial: CachedDenial): void {
    const { group, cost } = denial;
    this.#denials.delete(denial);
    group.denials.delete(cost);
    if (group.denials.size > 0) return;
    this.#groups.delete(group.id);
    this.#keyChanges.release(group.keys);
  }
}

function denialCostOf(costs: Costs): DenialCost {
  return typeof costs === 'number' ? costs : costs.join();
}

/** The same for all costs of a plan and keys. Redis keys contain no control characters, so the line breaks are unambiguous. */
function groupId({ encodedPlan, keys }: CheckInput): string {
  return `${encodedPlan.text}\n${keys.length === 1 ? keys[0] : keys.join('\n')}`;
}

function first<Item>(items: Iterable<Item>): Item | undefined {
  return items[Symbol.iterator]().next().value;
}

import { performance } from 'node:perf_hooks';
import type { Decision } from '@rollgate/core';
import { toDecision } from '@rollgate/core/store';
import {
  type CachedDenial,
  type CheckInput,
  type CheckTimes,
  type DenialGroup,
  holds,
  runDown,
} from './cached-denial.js';
import { estimateDenial } from './denial-estimate.js';
import { KeyChangeTracker } from './key-change-tracker.js';
import type { CheckResult } from './operations.js';

/** What {@link DenialCache} takes. */
export interface DenialCacheLimits {
  /** How long a refusal is believed at most, in milliseconds. */
  readonly maxAgeMs: number;
  /** How many refusals are kept at most. */
  readonly maxKeys: number;
}

/**
 * After so many costs were rejected for the same keys, further ones are estimated: each cost is a question of its own, and a
 * client that chooses the cost could ask Redis as often as it likes.
 */
const MOST_COSTS = 64;

/**
 * Refusals are proofs: until the wait is over, the same action stays refused, whatever other processes record.
 *
 * A refusal is void as soon as this process records in, resets or refunds one of its keys, and lasts no longer than its
 * figures do nothing but run down. So in one process it is what Redis would say. Estimates are the exception: after
 * {@link MOST_COSTS} costs, the wait of a further one may be too long, up to the reset, and its reason may be `'limit'` instead of
 * `'minDifference'`. What other processes record in, reset or refund shows when it has reached its greatest age.
 */
export class DenialCache {
  readonly #limits: DenialCacheLimits;
  /** How many costs have to be known for a family before further ones are estimated. */
  readonly #mostCosts: number;
  /** In the order of their coming, so that the oldest makes room. */
  readonly #denials = new Set<CachedDenial>();
  readonly #families = new Map<string, DenialGroup>();
  readonly #versions = new KeyChangeTracker();

  constructor(limits: DenialCacheLimits) {
    this.#limits = limits;
    this.#mostCosts = Math.min(MOST_COSTS, limits.maxKeys);
  }

  /** Whether no refusal is known at all. */
  get isEmpty(): boolean {
    return this.#denials.size === 0;
  }

  /** The refusal of this question, when one is known that still holds. */
  find(subject: CheckInput, nowMicros: number): Decision | undefined {
    if (!this.#versions.has(subject.keys.at(-1)!)) return undefined;
    const family = this.#families.get(idOf(subject));
    if (family === undefined || this.#isVoid(family)) return undefined;
    const nowMs = performance.now();
    const denial = family.denials.get(subject.cost);
    if (denial === undefined) return this.#estimate(family, subject.cost, nowMicros, nowMs);
    if (holds(denial, nowMicros, nowMs))
      return toDecision(subject.encoded.plan.rules, runDown(denial, nowMicros), undefined);
    this.#drop(denial);
    return undefined;
  }

  /** Drops a family whose keys have changed. */
  #isVoid(family: DenialGroup): boolean {
    const { notes, versions, denials } = family;
    if (notes.every(({ version }, index) => version === versions[index])) return false;
    for (const denial of denials.values()) this.#drop(denial);
    return true;
  }

  /** The rejection of a cost that was not asked about, once enough others were: by the next known cost above it or below it. */
  #estimate({ denials, encoded }: DenialGroup, cost: number, nowMicros: number, nowMs: number): Decision | undefined {
    if (denials.size < this.#mostCosts) return undefined;
    let above: CachedDenial | undefined;
    let below: CachedDenial | undefined;
    for (const denial of denials.values()) {
      if (!holds(denial, nowMicros, nowMs)) continue;
      if (denial.cost > cost && (above === undefined || denial.cost < above.cost)) above = denial;
      if (denial.cost < cost && (below === undefined || denial.cost > below.cost)) below = denial;
    }
    const { rules } = encoded.plan;
    for (const known of [above, below]) {
      const said = known && estimateDenial(rules, runDown(known, nowMicros), known.cost, cost);
      if (said !== undefined) return toDecision(rules, said, undefined);
    }
    return undefined;
  }

  /**
   * Notes that Redis was asked, and recorded nothing. Even so another plan may have changed what is known of a key, by
   * numbers to which it cannot be true.
   */
  asked({ encoded, keys }: CheckInput): void {
    if (!this.#versions.isEmpty) this.#versions.asked(keys, encoded.text);
  }

  /** Keeps a refusal, unless a limit counts rejected attempts: then it changes with every one. */
  add(subject: CheckInput, { said, steadyMicros }: CheckResult, { askedMicros, answeredMicros }: CheckTimes): void {
    const { encoded, cost } = subject;
    if (encoded.countsRejected || answeredMicros - askedMicros >= steadyMicros) return;
    this.#makeRoom(subject);
    const family = this.#familyOf(subject);
    const keptUntilMs = performance.now() + this.#limits.maxAgeMs;
    // Copies, because the caller has these in its decision.
    const kept = said.map((one) => ({ ...one }));
    const denial = { cost, family, said: kept, steadyMicros, askedMicros, answeredMicros, keptUntilMs };
    family.denials.set(cost, denial);
    this.#denials.add(denial);
  }

  /** Makes all refusals void that have to do with these keys. */
  dropAll(keys: readonly string[]): void {
    if (!this.#versions.isEmpty) this.#versions.changed(keys);
  }

  clear(): void {
    this.#denials.clear();
    this.#families.clear();
    this.#versions.clear();
  }

  #makeRoom(subject: CheckInput): void {
    const family = this.#families.get(idOf(subject));
    if (family !== undefined && !this.#isVoid(family)) {
      const { denials } = family;
      const outdated = denials.get(subject.cost) ?? (denials.size >= MOST_COSTS ? first(denials.values()) : undefined);
      if (outdated !== undefined) this.#drop(outdated);
    }
    if (this.#denials.size >= this.#limits.maxKeys) this.#drop(first(this.#denials)!);
  }

  #familyOf(subject: CheckInput): DenialGroup {
    const id = idOf(subject);
    let family = this.#families.get(id);
    if (family === undefined) {
      const { encoded, keys } = subject;
      const notes = this.#versions.use(keys, encoded.text);
      family = { id, encoded, keys, denials: new Map(), notes, versions: notes.map(({ version }) => version) };
      this.#families.set(id, family);
    }
    return family;
  }

  #drop(denial: CachedDenial): void {
    const { family, cost } = denial;
    this.#denials.delete(denial);
    family.denials.delete(cost);
    if (family.denials.size > 0) return;
    this.#families.delete(family.id);
    this.#versions.release(family.keys);
  }
}

/** The same for all costs of a plan and keys. No key holds a control character. */
function idOf({ encoded, keys }: CheckInput): string {
  return `${encoded.text}\n${keys.length === 1 ? keys[0] : keys.join('\n')}`;
}

function first<Item>(items: Iterable<Item>): Item | undefined {
  return items[Symbol.iterator]().next().value;
}

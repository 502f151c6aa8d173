import type { Decision, LimitDecision } from '@rollgate/core';
import { getOrInsert, toDecision } from '@rollgate/core/store';
import type { CheckInput, CheckResult } from '../operations/operations.js';
import { performance } from '../util/platform.js';

/** A rejection by Redis. */
interface Denial extends Pick<CheckResult, 'limitDecisions' | 'stableMicros'> {
  readonly id: string;
  /** The text of its plan. */
  readonly text: string;
  /** The Redis keys of its rules. */
  readonly keys: readonly string[];
  /** When the check was sent and its result received, by the clock on which its waits run down. */
  readonly sentMicros: number;
  readonly receivedMicros: number;
  /** When its result was received, by this process's monotonic clock, even when another clock is injected. */
  readonly receivedMs: number;
}

/** A check or a peek that was sent. */
export interface SentCheck extends CheckInput {
  readonly kind: 'check' | 'peek';
  /** The cache's `changeCount` when it was sent. */
  readonly changeCount: number;
}

/**
 * A full cache drops one denial for each so many of its size, the oldest ones at once. V8 leaves a gap where an item was deleted
 * from a `Map`, and passes all gaps to find the first item. One denial at a time, that took longer than a check.
 */
const DENIALS_PER_DROP = 500;

/**
 * Keeps rejections by Redis, called denials, and rejects the same check from memory while they are valid. A rejected action
 * stays rejected until its wait is over, whatever other processes record.
 *
 * A denial ends when a check of its store records in a key whose limit rejects, or when its store changes any of its keys in
 * another way, such as a reset. It is valid only until something other than its waits could change. So while no other store uses the
 * keys, a check is rejected exactly if Redis would reject it. What the cache returns about limits that do not reject may be outdated
 * by checks of up to `maxAgeMs`, because those of all users change a limit that they share all the time.
 *
 * A denial may be outdated by up to `maxAgeMs` when another store or process changes its keys.
 */
export class DenialCache {
  /** How many changes of states by anything but a check have started or ended. */
  changeCount = 0;
  /** By {@link idOf}, oldest first. */
  readonly #denials = new Map<string, Denial>();
  /** By each of their keys whose limits reject. */
  readonly #denialsOfKeys = new Map<string, Set<Denial>>();
  /** By each of their other keys. */
  readonly #denialsBeside = new Map<string, Set<Denial>>();

  constructor(
    private readonly maxAgeMs: number,
    private readonly maxKeys: number,
  ) {}

  /** The rejection of this check, if a valid denial is known. */
  find(input: CheckInput): Decision | undefined {
    // Most checks end here, and an id for each would take longer.
    if (this.#denials.size === 0 || !input.keys.some((key) => this.#denialsOfKeys.has(key))) return undefined;
    const denial = this.#denials.get(idOf(input));
    if (denial === undefined) return undefined;
    const nowMs = performance.now();
    const nowMicros = input.clockMicros ?? toMicros(nowMs);
    if (this.#isValid(denial, nowMicros, nowMs)) {
      return toDecision(input.encodedPlan.plan.rules, limitDecisionsAt(denial, nowMicros), undefined, input.costs);
    }
    this.#drop(denial);
    return undefined;
  }

  /**
   * Whether the denial is valid. Redis decided at some time after the check was sent, so the denial is valid from then on. The clock that
   * decides may be faster than that of this process.
   */
  #isValid(denial: Denial, nowMicros: number, nowMs: number): boolean {
    const sinceSent = nowMicros - denial.sentMicros;
    const ageMs = Math.max((nowMicros - denial.receivedMicros) / 1000, nowMs - denial.receivedMs);
    return sinceSent >= 0 && sinceSent < denial.stableMicros && ageMs < this.maxAgeMs;
  }

  /** Keeps the result of a check or a peek if it is a denial, or drops the denials that it has ended. */
  update(check: SentCheck, result: CheckResult, allowed: boolean, sentMs: number): void {
    // A check that recorded has changed the state. An allowed peek shows that another process may have reset the keys.
    const mayHaveChanged = check.kind === 'check' ? result.receipt !== undefined : allowed;
    if (!mayHaveChanged) this.#add(check, result, sentMs);
    else if (this.#denials.size > 0) this.invalidate(check.keys);
  }

  /** Drops the denials by the states of these keys, but none of rules with this text. */
  invalidate(keys: readonly string[], exceptText?: string): void {
    for (const key of keys) {
      for (const denial of this.#denialsOfKeys.get(key) ?? []) if (denial.text !== exceptText) this.#drop(denial);
    }
  }

  /** Notes that a change of these keys by anything but a check starts or has ended. */
  noteChange(keys: readonly string[]): void {
    this.changeCount += 1;
    this.invalidate(keys);
    for (const key of keys) for (const denial of this.#denialsBeside.get(key) ?? []) this.#drop(denial);
  }

  /** Notes that the clock has stepped back, so an earlier state may apply again. */
  noteClockStep(): void {
    this.changeCount += 1;
    this.#denials.clear();
    this.#denialsOfKeys.clear();
    this.#denialsBeside.clear();
  }

  /** Keeps the denial of a check that recorded nothing, unless its plan allows none. */
  #add(check: SentCheck, { limitDecisions, stableMicros }: CheckResult, sentMs: number): void {
    const { encodedPlan, clockMicros } = check;
    const { text } = encodedPlan;
    // Its limits may have ruled out the state, and dropped it.
    this.invalidate(check.keys, text);
    if (check.kind !== 'check' || check.changeCount !== this.changeCount) return;
    const nowMs = performance.now();
    const sentMicros = clockMicros ?? sentMs * 1000;
    const receivedMicros = clockMicros ?? toMicros(nowMs);
    if (!encodedPlan.isCacheable || receivedMicros - sentMicros >= stableMicros) return;
    const id = idOf(check);
    const former = this.#denials.get(id);
    if (former !== undefined) this.#drop(former);
    this.#makeRoom();
    const denial: Denial = {
      id,
      text,
      keys: check.keys,
      // Copies, because the caller's decision contains the originals.
      limitDecisions: limitDecisions.map((decision) => ({ ...decision })),
      stableMicros,
      sentMicros,
      receivedMicros,
      receivedMs: nowMs,
    };
    this.#denials.set(id, denial);
    for (const [key, denials] of this.#mapsOf(denial)) getOrInsert(denials, key, () => new Set()).add(denial);
  }

  #makeRoom(): void {
    if (this.#denials.size < this.maxKeys) return;
    const leftCount = this.maxKeys - Math.ceil(this.maxKeys / DENIALS_PER_DROP);
    for (const denial of this.#denials.values()) {
      if (this.#denials.size === leftCount) return;
      this.#drop(denial);
    }
  }

  #drop(denial: Denial): void {
    this.#denials.delete(denial.id);
    for (const [key, byKey] of this.#mapsOf(denial)) {
      const denials = byKey.get(key);
      denials?.delete(denial);
      if (denials?.size === 0) byKey.delete(key);
    }
  }

  /** The keys of a denial, each with the map that has the denial by it. */
  #mapsOf({ keys, limitDecisions }: Denial): [key: string, map: Map<string, Set<Denial>>][] {
    return keys.map((key, index) => [key, limitDecisions[index]!.allowed ? this.#denialsBeside : this.#denialsOfKeys]);
  }
}

/** Redis keys contain no control characters, so the line breaks are unambiguous. */
function idOf({ encodedPlan, keys, costs }: CheckInput): string {
  return `${costs}\n${encodedPlan.text}\n${keys.join('\n')}`;
}

/** Whole microseconds, because waits are whole microseconds as well. */
function toMicros(ms: number): number {
  return Math.floor(ms * 1000);
}

/**
 * The decisions of the denial's limits at a later time.
 *
 * The waits run down from the time at which the result arrived, so they are never too short.
 */
function limitDecisionsAt({ limitDecisions, receivedMicros }: Denial, nowMicros: number): LimitDecision[] {
  const passedMicros = Math.max(0, nowMicros - receivedMicros);
  const left = (ms: number) => Math.max(0, Math.round(ms * 1000) - passedMicros) / 1000;
  return limitDecisions.map((decision) => ({
    ...decision,
    retryAfterMs: left(decision.retryAfterMs),
    resetMs: left(decision.resetMs),
    nextUnitMs: left(decision.nextUnitMs!), // Only limits on slots have none, and no denial is kept for those.
  }));
}

import { performance } from 'node:perf_hooks';
import { type Decision, toDecision } from '@rollgate/core';
import type { EncodedPlan } from './encoded-plan.js';
import type { Answer } from './operations.js';

/** What {@link DenialCache} takes. */
export interface DenialCacheLimits {
  /** How long a refusal is believed at most, in milliseconds. */
  readonly maxAgeMs: number;
  /** How many refusals are kept at most. */
  readonly maxKeys: number;
}

/** What is asked: the same plan, keys and cost are the same question. */
export interface Subject {
  readonly encoded: EncodedPlan;
  /** Of Redis. */
  readonly keys: readonly string[];
  readonly cost: number;
}

/** When a question was asked and answered, by the clock that its waits run down on. */
export interface Times {
  readonly askedMicros: number;
  readonly answeredMicros: number;
}

interface Denial extends Subject, Times, Pick<Answer, 'said' | 'steadyMicros'> {
  /** By this process's own time, whatever clock is injected. */
  readonly keptUntilMs: number;
}

/**
 * Refusals are proofs: until the wait is over, the same action stays refused, whatever other processes do, but for a
 * reset or a refund there, which is seen when the refusal has reached its greatest age.
 *
 * What is answered from here is what Redis would have said: a refusal is dropped as soon as this process records in,
 * resets or refunds one of its keys, and lasts no longer than its figures do nothing but run down.
 */
export class DenialCache {
  readonly #limits: DenialCacheLimits;
  /** In the order of their coming, so that the oldest makes room. */
  readonly #denials = new Set<Denial>();
  readonly #byKey = new Map<string, Set<Denial>>();

  constructor(limits: DenialCacheLimits) {
    this.#limits = limits;
  }

  /** Whether no refusal is known at all. */
  get isEmpty(): boolean {
    return this.#denials.size === 0;
  }

  /** The refusal of this question, when one is known that still holds. */
  find(subject: Subject, nowMicros: number): Decision | undefined {
    const denial = this.#known(subject);
    if (denial === undefined) return undefined;
    if (holds(denial, nowMicros)) return decisionOf(denial, nowMicros);
    this.#drop(denial);
    return undefined;
  }

  /** Keeps a refusal, unless a limit counts rejected attempts: then it changes with every one. */
  add({ encoded, keys, cost }: Subject, { said, steadyMicros }: Answer, { askedMicros, answeredMicros }: Times): void {
    if (encoded.countsRejected || answeredMicros - askedMicros >= steadyMicros) return;
    const keptUntilMs = performance.now() + this.#limits.maxAgeMs;
    const denial = { encoded, keys, cost, said, steadyMicros, askedMicros, answeredMicros, keptUntilMs };
    const outdated = this.#known(denial);
    if (outdated !== undefined) this.#drop(outdated);
    if (this.#denials.size >= this.#limits.maxKeys) this.#drop(this.#denials.values().next().value!);
    this.#denials.add(denial);
    for (const key of keys) {
      const denials = this.#byKey.get(key);
      if (denials === undefined) this.#byKey.set(key, new Set([denial]));
      else denials.add(denial);
    }
  }

  /** Forgets all refusals that have to do with these keys. */
  dropAll(keys: readonly string[]): void {
    if (this.#denials.size === 0) return;
    for (const key of keys) for (const denial of this.#byKey.get(key) ?? []) this.#drop(denial);
  }

  clear(): void {
    this.#denials.clear();
    this.#byKey.clear();
  }

  /** Looked for among those of the key that has the fewest: a key that all share has many. */
  #known(subject: Subject): Denial | undefined {
    let fewest: Set<Denial> | undefined;
    for (const key of subject.keys) {
      const denials = this.#byKey.get(key);
      if (denials === undefined) return undefined;
      if (fewest === undefined || denials.size < fewest.size) fewest = denials;
    }
    for (const denial of fewest!) if (isSame(denial, subject)) return denial;
    return undefined;
  }

  #drop(denial: Denial): void {
    this.#denials.delete(denial);
    for (const key of denial.keys) {
      const denials = this.#byKey.get(key);
      denials?.delete(denial);
      if (denials?.size === 0) this.#byKey.delete(key);
    }
  }
}

function isSame(one: Subject, other: Subject): boolean {
  return (
    one.cost === other.cost &&
    one.encoded.text === other.encoded.text &&
    one.keys.length === other.keys.length &&
    one.keys.every((key, index) => key === other.keys[index])
  );
}

/** It was made at some time between the question and the answer: so it holds for sure only from the question on. */
function holds({ askedMicros, steadyMicros, keptUntilMs }: Denial, nowMicros: number): boolean {
  const sinceAsked = nowMicros - askedMicros;
  return sinceAsked >= 0 && sinceAsked < steadyMicros && performance.now() < keptUntilMs;
}

/** The refusal with its waits run down since the answer came: so they are never told shorter than they are. */
function decisionOf({ encoded, said, answeredMicros }: Denial, nowMicros: number): Decision {
  const passedMicros = Math.max(0, nowMicros - answeredMicros);
  const left = (ms: number) => Math.max(0, Math.round(ms * 1000) - passedMicros) / 1000;
  const now = said.map((decision) => ({
    ...decision,
    retryAfterMs: left(decision.retryAfterMs),
    resetMs: left(decision.resetMs),
  }));
  return toDecision(encoded.plan.rules, now, undefined);
}

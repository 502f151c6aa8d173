import { performance } from 'node:perf_hooks';
import type { Decision } from '@rollgate/core';
import { toDecision } from '@rollgate/core/store';
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
  readonly id: string;
  /** By this process's own time, whatever clock is injected. */
  readonly keptUntilMs: number;
  /** What was known of the keys: when one of them has changed since, the refusal is void. */
  readonly notes: readonly KeyNote[];
  readonly versions: readonly number[];
}

/** How often a key that refusals were kept of has changed. */
interface KeyNote {
  /** Of the plan that asked last. */
  text: string;
  version: number;
  denialCount: number;
}

/**
 * Refusals are proofs: until the wait is over, the same action stays refused, whatever other processes record.
 *
 * A refusal is void as soon as this process records in, resets or refunds one of its keys, and lasts no longer than its
 * figures do nothing but run down. So in one process it is what Redis would say. What other processes record in, reset or
 * refund shows when it has reached its greatest age.
 */
export class DenialCache {
  readonly #limits: DenialCacheLimits;
  /** In the order of their coming, so that the oldest makes room. */
  readonly #denials = new Map<string, Denial>();
  readonly #notes = new Map<string, KeyNote>();

  constructor(limits: DenialCacheLimits) {
    this.#limits = limits;
  }

  /** Whether no refusal is known at all. */
  get isEmpty(): boolean {
    return this.#denials.size === 0;
  }

  /** The refusal of this question, when one is known that still holds. */
  find(subject: Subject, nowMicros: number): Decision | undefined {
    if (!this.#notes.has(subject.keys.at(-1)!)) return undefined;
    const denial = this.#denials.get(idOf(subject));
    if (denial === undefined) return undefined;
    if (holds(denial, nowMicros)) return decisionOf(denial, nowMicros);
    this.#drop(denial);
    return undefined;
  }

  /**
   * Notes that Redis was asked, and recorded nothing. Even so another plan may have changed what is known of a key, by
   * numbers to which it cannot be true.
   */
  asked({ encoded, keys }: Subject): void {
    if (this.#notes.size === 0) return;
    for (const key of keys) {
      const note = this.#notes.get(key);
      if (note === undefined || note.text === encoded.text) continue;
      note.text = encoded.text;
      note.version += 1;
    }
  }

  /** Keeps a refusal, unless a limit counts rejected attempts: then it changes with every one. */
  add(subject: Subject, { said, steadyMicros }: Answer, { askedMicros, answeredMicros }: Times): void {
    const { encoded, keys, cost } = subject;
    if (encoded.countsRejected || answeredMicros - askedMicros >= steadyMicros) return;
    const id = idOf(subject);
    const outdated = this.#denials.get(id);
    if (outdated !== undefined) this.#drop(outdated);
    if (this.#denials.size >= this.#limits.maxKeys) this.#drop(this.#denials.values().next().value!);
    const notes = keys.map((key) => this.#noteOf(key, encoded.text));
    const versions = notes.map(({ version }) => version);
    const keptUntilMs = performance.now() + this.#limits.maxAgeMs;
    const what = { id, encoded, keys, cost, notes, versions };
    this.#denials.set(id, { ...what, said, steadyMicros, askedMicros, answeredMicros, keptUntilMs });
    for (const note of notes) note.denialCount += 1;
  }

  /** Makes all refusals void that have to do with these keys. */
  dropAll(keys: readonly string[]): void {
    if (this.#notes.size === 0) return;
    for (const key of keys) {
      const note = this.#notes.get(key);
      if (note !== undefined) note.version += 1;
    }
  }

  clear(): void {
    this.#denials.clear();
    this.#notes.clear();
  }

  #noteOf(key: string, text: string): KeyNote {
    let note = this.#notes.get(key);
    if (note === undefined) {
      note = { text, version: 0, denialCount: 0 };
      this.#notes.set(key, note);
    }
    return note;
  }

  #drop(denial: Denial): void {
    this.#denials.delete(denial.id);
    denial.notes.forEach((note, index) => {
      note.denialCount -= 1;
      if (note.denialCount === 0) this.#notes.delete(denial.keys[index]!);
    });
  }
}

/** The same plan, keys and cost are the same question. No key holds a control character. */
function idOf({ encoded, keys, cost }: Subject): string {
  return `${cost} ${encoded.text}\n${keys.length === 1 ? keys[0] : keys.join('\n')}`;
}

/** It was made at some time between the question and the answer: so it holds for sure only from the question on. */
function holds({ askedMicros, steadyMicros, keptUntilMs, notes, versions }: Denial, nowMicros: number): boolean {
  const sinceAsked = nowMicros - askedMicros;
  const isSteady = sinceAsked >= 0 && sinceAsked < steadyMicros && performance.now() < keptUntilMs;
  return isSteady && notes.every(({ version }, index) => version === versions[index]);
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

import { performance } from 'node:perf_hooks';
import type { Decision, LimitDecision } from '@rollgate/core';
import { toDecision } from '@rollgate/core/store';
import { estimateDenial } from './denial-estimate.js';
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

/**
 * After so many costs were rejected for the same keys, further ones are estimated: each cost is a question of its own, and a
 * client that chooses the cost could ask Redis as often as it likes.
 */
const MOST_COSTS = 64;

interface Denial extends Subject, Times, Pick<Answer, 'said' | 'steadyMicros'> {
  readonly id: string;
  /** What its plan and keys are, without the cost. */
  readonly questions: string;
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
  /** Those of the same plan and keys, oldest first. */
  readonly #denialsOf = new Map<string, Set<Denial>>();

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
    const questions = questionsOf(subject);
    const denial = this.#denials.get(idOf(subject.cost, questions));
    if (denial === undefined) return this.#estimate(questions, subject.cost, nowMicros);
    if (holds(denial, nowMicros)) return decisionOf(denial, nowMicros);
    this.#drop(denial);
    return undefined;
  }

  /** The rejection of a cost that nobody asked about, once enough others were. */
  #estimate(questions: string, cost: number, nowMicros: number): Decision | undefined {
    const known = this.#denialsOf.get(questions);
    if (known === undefined || known.size < MOST_COSTS) return undefined;
    let nearest: Denial | undefined;
    for (const denial of known) {
      if (!holds(denial, nowMicros)) continue;
      if (nearest === undefined || isNearer(denial.cost, nearest.cost, cost)) nearest = denial;
    }
    if (nearest === undefined) return undefined;
    const { rules } = nearest.encoded.plan;
    const said = estimateDenial(rules, runDown(nearest, nowMicros), nearest.cost, cost);
    return said && toDecision(rules, said, undefined);
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
    const questions = questionsOf(subject);
    const id = idOf(cost, questions);
    const outdated = this.#denials.get(id) ?? this.#oldestOfMany(questions);
    if (outdated !== undefined) this.#drop(outdated);
    if (this.#denials.size >= this.#limits.maxKeys) this.#drop(this.#denials.values().next().value!);
    const notes = keys.map((key) => this.#noteOf(key, encoded.text));
    const versions = notes.map(({ version }) => version);
    const keptUntilMs = performance.now() + this.#limits.maxAgeMs;
    const what = { id, questions, encoded, keys, cost, notes, versions };
    // Copies, because the caller has these in its decision.
    const kept = said.map((one) => ({ ...one }));
    const denial = { ...what, said: kept, steadyMicros, askedMicros, answeredMicros, keptUntilMs };
    this.#denials.set(id, denial);
    const known = this.#denialsOf.get(questions);
    if (known === undefined) this.#denialsOf.set(questions, new Set([denial]));
    else known.add(denial);
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
    this.#denialsOf.clear();
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

  #oldestOfMany(questions: string): Denial | undefined {
    const known = this.#denialsOf.get(questions);
    return known !== undefined && known.size >= MOST_COSTS ? known.values().next().value : undefined;
  }

  #drop(denial: Denial): void {
    this.#denials.delete(denial.id);
    const known = this.#denialsOf.get(denial.questions)!;
    known.delete(denial);
    if (known.size === 0) this.#denialsOf.delete(denial.questions);
    denial.notes.forEach((note, index) => {
      note.denialCount -= 1;
      if (note.denialCount === 0) this.#notes.delete(denial.keys[index]!);
    });
  }
}

/** The same plan and keys are the same questions, but for the cost. No key holds a control character. */
function questionsOf({ encoded, keys }: Subject): string {
  return `${encoded.text}\n${keys.length === 1 ? keys[0] : keys.join('\n')}`;
}

function idOf(cost: number, questions: string): string {
  return `${cost} ${questions}`;
}

/** Whether this cost says more about `cost` than another one: the next one above it, else the next one below. */
function isNearer(one: number, other: number, cost: number): boolean {
  if (one >= cost) return other < cost || one < other;
  return other < cost && one > other;
}

/** It was made at some time between the question and the answer: so it holds for sure only from the question on. */
function holds({ askedMicros, steadyMicros, keptUntilMs, notes, versions }: Denial, nowMicros: number): boolean {
  const sinceAsked = nowMicros - askedMicros;
  const isSteady = sinceAsked >= 0 && sinceAsked < steadyMicros && performance.now() < keptUntilMs;
  return isSteady && notes.every(({ version }, index) => version === versions[index]);
}

/** The refusal with its waits run down since the answer came: so they are never told shorter than they are. */
function decisionOf(denial: Denial, nowMicros: number): Decision {
  return toDecision(denial.encoded.plan.rules, runDown(denial, nowMicros), undefined);
}

function runDown({ said, answeredMicros }: Denial, nowMicros: number): LimitDecision[] {
  const passedMicros = Math.max(0, nowMicros - answeredMicros);
  const left = (ms: number) => Math.max(0, Math.round(ms * 1000) - passedMicros) / 1000;
  return said.map((decision) => ({
    ...decision,
    retryAfterMs: left(decision.retryAfterMs),
    resetMs: left(decision.resetMs),
  }));
}

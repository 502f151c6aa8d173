import type { Limit, LimitDecision } from '@rollgate/core';
import { costAt, type Rule } from '@rollgate/core/store';
import {
  type CheckResult,
  type DecisionOperation,
  Receipt,
  type RecordedHit,
  type RenewOperation,
} from './operations.js';
import {
  type Figures,
  isFull,
  toFigures,
  toNatural,
  toNumber,
  toRejection,
  unexpectedReply,
} from './script-numbers.js';

/** The server's time, then a line for each operation. Without this check, any text that follows a result could be a number. */
const REPLY = /^\d+ \d+(?:\n(?:!|[-\d ,]*))+$/;

/** A reply whose lines are all "remaining" or "remaining reset". One test of it is faster than one of each number. */
const RECORDS = /^\d{1,15} \d{1,6}(?:\n\d{1,15}(?: \d{1,15})?)+$/;

/**
 * The return value of a script, as `lua/main.lua` describes it, read one operation after the other.
 *
 * All that follows throws a TypeError if no script of this package returned the value, but for example a proxy in front of
 * Redis.
 */
export class ScriptReply {
  readonly #serverMicros: number;
  readonly #lines: readonly string[];
  readonly #messages: readonly unknown[];
  readonly #hasOnlyRecords: boolean;
  #index = 0;
  #messageIndex = 0;

  constructor(value: unknown, operationCount: number) {
    const [text, ...messages] = Array.isArray(value) ? (value as unknown[]) : [value];
    if (typeof text !== 'string') throw unexpectedReply(text);
    this.#hasOnlyRecords = RECORDS.test(text);
    if (!this.#hasOnlyRecords && !REPLY.test(text)) throw unexpectedReply(text);
    this.#lines = text.split('\n');
    this.#messages = messages;
    if (this.length > operationCount) throw unexpectedReply(text);
    const [seconds, micros] = this.#lines[0]!.split(' ');
    this.#serverMicros = Number(seconds) * 1e6 + Number(micros);
  }

  /** How many operations the script ran. It leaves the others when it reaches its step limit. */
  get length(): number {
    return this.#lines.length - 1;
  }

  /** Moves on to the next operation, and returns its error if it failed. */
  nextError(): Error | undefined {
    this.#index += 1;
    if (this.#line !== '!') return undefined;
    const message = this.#messages[this.#messageIndex++];
    if (typeof message !== 'string') throw unexpectedReply(message);
    return new Error(message);
  }

  /** The result of the current operation. */
  resultOf(operation: DecisionOperation): CheckResult {
    const { rules } = operation.encodedPlan.plan;
    const line = this.#line;
    if (rules.length === 1) {
      const { limit } = rules[0]!;
      if (this.#hasOnlyRecords || isSingleRecord(line)) return this.#singleResult(operation, limit, line);
      if (isFull(line)) return rejectedResult(limit, line);
    }
    const parts = line.split(',');
    if (parts.length !== rules.length) throw unexpectedReply(line);
    return this.#result(
      operation,
      rules,
      parts.map((part, index) => toFigures(part, rules[index]!.limit)),
    );
  }

  /** The lost leases of the current operation, by their indices. */
  lostIndicesOf({ leases }: RenewOperation): number[] {
    const line = this.#line;
    const indices = line === '' ? [] : line.split(' ').map(toNumber);
    if (indices.some((index) => leases[index] === undefined)) throw unexpectedReply(line);
    return indices;
  }

  /** The count of the current operation. */
  get count(): number {
    return toNumber(this.#line);
  }

  /** Reads the current operation, which has no result. */
  expectNoResult(): void {
    if (this.#line !== '') throw unexpectedReply(this.#line);
  }

  /** Does the same as {@link #result} for a check of one rule that recorded. The lists would take several times as long. */
  #singleResult({ encodedPlan, costs, keys, clockMicros }: DecisionOperation, limit: Limit, line: string): CheckResult {
    const space = line.indexOf(' ');
    const nowMicros = clockMicros ?? this.#stamp;
    const toAmount = this.#hasOnlyRecords ? Number : toNatural;
    const remaining = toAmount(space < 0 ? line : line.slice(0, space));
    let resetMicros = limit.windowMicros;
    let atMicros = nowMicros;
    if (space >= 0) {
      const second = line.indexOf(' ', space + 1);
      resetMicros = toAmount(second < 0 ? line.slice(space + 1) : line.slice(space + 1, second));
      if (second >= 0) atMicros += toNumber(line.slice(second + 1));
    }
    const limitDecision = toLimitDecision(limit, 0, 0, remaining, resetMicros);
    const hit: RecordedHit = { key: keys[0]!, index: 0, atMicros, cost: costAt(costs, 0) };
    const receipt = new Receipt(this.#stamp, nowMicros, encodedPlan, [hit]);
    return { limitDecisions: [limitDecision], receipt, stableMicros: 0 };
  }

  #result(
    { encodedPlan, costs, keys, kind, clockMicros }: DecisionOperation,
    rules: readonly Rule[],
    figures: readonly Figures[],
  ): CheckResult {
    const allowed = figures.every(([delay]) => !isRejection(delay));
    const nowMicros = clockMicros ?? this.#stamp;
    const hits: RecordedHit[] = [];
    let stableMicros = Infinity;
    const limitDecisions = rules.map(({ limit }, index): LimitDecision => {
      const [delay, wait, remaining, reset, last] = figures[index]!;
      const cost = costAt(costs, index);
      const hasRecorded = kind === 'check' && cost > 0 && (allowed || limit.countRejected);
      if (!hasRecorded) {
        stableMicros = Math.min(stableMicros, orInfinity(last), isRejection(delay) ? orInfinity(wait) : Infinity);
      }
      if (hasRecorded || (kind === 'check' && allowed)) {
        hits.push({ key: keys[index]!, index, atMicros: hasRecorded ? nowMicros + last : 0, cost });
      }
      return toLimitDecision(limit, delay, wait, remaining, reset);
    });
    const receipt = hits.length === 0 ? undefined : new Receipt(this.#stamp, nowMicros, encodedPlan, hits);
    return { limitDecisions, receipt, stableMicros };
  }

  get #line(): string {
    return this.#lines[this.#index]!;
  }

  /** The server's time of the current operation, which is also the stamp of what it recorded. */
  get #stamp(): number {
    return this.#serverMicros + this.#index - 1;
  }
}

/** Whether a line describes one rule that recorded. Then it has at most three numbers, of which the first is not negative. */
function isSingleRecord(line: string): boolean {
  if (line.startsWith('-')) return false;
  const second = line.indexOf(' ', line.indexOf(' ') + 1);
  return second < 0 || second === line.lastIndexOf(' ');
}

/** The result of a usual check that found no units left. */
function rejectedResult(limit: Limit, line: string): CheckResult {
  const { wait, reset } = toRejection(line);
  const limitDecision = toLimitDecision(limit, -1, wait, 0, reset);
  return { limitDecisions: [limitDecision], receipt: undefined, stableMicros: wait };
}

function toLimitDecision(
  { limit, retryIsEstimate = false }: Limit & { readonly retryIsEstimate?: boolean },
  delay: number,
  wait: number,
  remaining: number,
  reset: number,
): LimitDecision {
  const retryAfterMs = orInfinity(wait) / 1000;
  const resetMs = reset / 1000;
  if (!isRejection(delay)) {
    return { allowed: true, limit, remaining, retryAfterMs, resetMs, delayMs: delay / 1000 };
  }
  const reason = delay === MIN_DIFFERENCE ? 'minDifference' : 'limit';
  const rejection = { allowed: false, limit, remaining, retryAfterMs, resetMs, delayMs: 0, reason } as const;
  return retryIsEstimate && retryAfterMs !== Infinity
    ? ({ ...rejection, retryIsEstimate } as LimitDecision)
    : rejection;
}

/** This delay means that the rule's `minDifference` rejects. Any other delay below 0 means that its limit does. */
const MIN_DIFFERENCE = -2;

function isRejection(delay: number): boolean {
  return delay < 0;
}

/** The script returns a number below 0 for an infinite time. */
function orInfinity(micros: number): number {
  return micros < 0 ? Infinity : micros;
}

import type { Limit, LimitDecision } from '@rollgate/core';
import { costAt, type Rule } from '@rollgate/core/store';
import {
  type CheckResult,
  type DecisionOperation,
  Receipt,
  type RecordedHit,
  type RenewOperation,
} from '../operations/operations.js';
import { type Figures, toFigures, toNumber, unexpectedReply } from './script-numbers.js';

/** The server's time, then a line for each operation. Without this check, any text that follows a result could be a number. */
const REPLY = /^\d+ \d+(?:\n(?:!|[-\d ,]*))+$/;

const encoder = new TextEncoder();

/** Larger numbers take the general way, which verifies that a number can represent them exactly. */
const MAX_DIGITS = 15;
const LINE_BREAK = 10;
const SPACE = 32;
const EXCLAMATION_MARK = 33;
const MINUS = 45;
const ZERO = 48;

/**
 * The return value of a script, as `lua/main.lua` describes it, read one operation after the other.
 *
 * All that follows throws a TypeError if no script of this package returned the value, but for example a proxy in front of
 * Redis.
 */
export class ScriptReply {
  readonly #serverMicros: number;
  readonly #text: string;
  /** The codes of the text, because methods of strings are slow in a process that has loaded ioredis 6. */
  readonly #codes: Uint8Array;
  readonly #messages: readonly unknown[];
  /** How many operations the script ran. It leaves the others when it reaches its step limit. */
  readonly length: number;
  /** Where the text continues that is not read yet. */
  #position = 0;
  #index = 0;
  #messageIndex = 0;

  constructor(value: unknown, operationCount: number) {
    const [text, ...messages] = Array.isArray(value) ? (value as unknown[]) : [value];
    if (typeof text !== 'string' || !REPLY.test(text)) throw unexpectedReply(text);
    this.#text = `${text}\n`;
    this.#codes = encoder.encode(this.#text);
    this.#messages = messages;
    this.length = countLines(this.#codes) - 1;
    if (this.length > operationCount) throw unexpectedReply(text);
    const [seconds, micros] = this.#readLine().split(' ');
    this.#serverMicros = Number(seconds) * 1e6 + Number(micros);
  }

  /** Moves on to the next operation, and reads its error if it failed. */
  nextError(): Error | undefined {
    this.#index += 1;
    if (this.#codes[this.#position]! !== EXCLAMATION_MARK) return undefined;
    this.#readLine();
    const message = this.#messages[this.#messageIndex++];
    if (typeof message !== 'string') throw unexpectedReply(message);
    return new Error(message);
  }

  /** Reads the result of the current operation. */
  readResult(operation: DecisionOperation): CheckResult {
    const { rules } = operation.encodedPlan.plan;
    const result = rules.length === 1 ? this.#readShortResult(operation, rules[0]!.limit) : undefined;
    if (result !== undefined) return result;
    const line = this.#readLine();
    const parts = line.split(',');
    if (parts.length !== rules.length) throw unexpectedReply(line);
    return this.#result(
      operation,
      rules,
      parts.map((part, index) => toFigures(part, rules[index]!.limit)),
    );
  }

  /** Reads the lost leases of the current operation, by their indices. */
  readLostIndices({ leases }: RenewOperation): number[] {
    const line = this.#readLine();
    const indices = line === '' ? [] : line.split(' ').map(toNumber);
    if (indices.some((index) => leases[index] === undefined)) throw unexpectedReply(line);
    return indices;
  }

  /** Reads the count of the current operation. */
  readCount(): number {
    return toNumber(this.#readLine());
  }

  /** Reads the current operation, which has no result. */
  readNoResult(): void {
    const line = this.#readLine();
    if (line !== '') throw unexpectedReply(line);
  }

  /**
   * Does the same as {@link #result} for a check of one rule that recorded, or that found no units left. The texts and
   * lists would take several times as long. Reads nothing and returns `undefined` if the line is longer.
   */
  #readShortResult(operation: DecisionOperation, limit: Limit): CheckResult | undefined {
    const start = this.#position;
    const isRejected = this.#codes[start]! === MINUS;
    if (isRejected) this.#position += 1;
    const first = this.#readNumber();
    const second = this.#readNextNumber();
    const third = this.#readNextNumber();
    const isShort = this.#codes[this.#position]! === LINE_BREAK && first + second + third < Infinity;
    if (!isShort || first < 0 || (isRejected && (second < 0 || third >= 0))) {
      this.#position = start;
      return undefined;
    }
    this.#position += 1;
    return isRejected
      ? rejectedResult(limit, first, second)
      : this.#recordedResult(operation, limit, first, second < 0 ? limit.windowMicros : second, Math.max(third, 0));
  }

  #recordedResult(
    { encodedPlan, costs, keys, clockMicros }: DecisionOperation,
    limit: Limit,
    remaining: number,
    resetMicros: number,
    aheadMicros: number,
  ): CheckResult {
    const stamp = this.#stamp();
    const nowMicros = clockMicros ?? stamp;
    const limitDecision = toLimitDecision(limit, 0, 0, remaining, resetMicros);
    const receipt = new Receipt(stamp, nowMicros, encodedPlan, keys[0]!, aheadMicros, costAt(costs, 0));
    return { limitDecisions: [limitDecision], receipt, stableMicros: 0 };
  }

  #result(
    { encodedPlan, costs, keys, kind, clockMicros }: DecisionOperation,
    rules: readonly Rule[],
    figures: readonly Figures[],
  ): CheckResult {
    const allowed = figures.every(([delay]) => !isRejection(delay));
    const nowMicros = clockMicros ?? this.#stamp();
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
    const receipt = hits.length === 0 ? undefined : new Receipt(this.#stamp(), nowMicros, encodedPlan, hits, 0, 0);
    return { limitDecisions, receipt, stableMicros };
  }

  /** Reads a space and the number after it. Returns -1 and reads nothing if no number follows. */
  #readNextNumber(): number {
    if (this.#codes[this.#position]! !== SPACE || this.#codes[this.#position + 1]! < ZERO) return -1;
    this.#position += 1;
    return this.#readNumber();
  }

  /** Reads digits. Returns -1 if there are none, and `Infinity` if there are many. */
  #readNumber(): number {
    const start = this.#position;
    let end = start;
    let number = 0;
    for (let code = this.#codes[end]!; code >= ZERO; code = this.#codes[end]!) {
      number = number * 10 + code - ZERO;
      end += 1;
    }
    this.#position = end;
    if (end === start) return -1;
    return end - start <= MAX_DIGITS ? number : Infinity;
  }

  #readLine(): string {
    const end = this.#text.indexOf('\n', this.#position);
    const line = this.#text.slice(this.#position, end);
    this.#position = end + 1;
    return line;
  }

  /** The server's time of the current operation, which is also the stamp of what it recorded. */
  #stamp(): number {
    return this.#serverMicros + this.#index - 1;
  }
}

function countLines(codes: Uint8Array): number {
  let count = 0;
  for (let position = 0; position < codes.length; position++) if (codes[position] === LINE_BREAK) count += 1;
  return count;
}

/** The result of a usual check that found no units left. */
function rejectedResult(limit: Limit, wait: number, reset: number): CheckResult {
  const limitDecision = toLimitDecision(limit, -1, wait, 0, reset);
  return { limitDecisions: [limitDecision], receipt: undefined, stableMicros: wait };
}

function toLimitDecision(
  { limit, holdsSlots = false }: Limit,
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
  return holdsSlots && retryAfterMs !== Infinity ? { ...rejection, retryIsEstimate: true } : rejection;
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

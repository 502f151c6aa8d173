import type { Limit } from '@rollgate/core';
import { formatValue } from '@rollgate/core/store';
import type { CheckResult, DecisionOperation, RenewOperation } from '../operations/operations.js';
import { type Figures, REJECTED, toCheckResult } from './check-result.js';

/** The server's time, then a line for each operation. The text of another program thus settles no operation of a batch. */
const REPLY = /^\d+ \d+(?:\n(?:!|[-\d ,]*))+$/;

const encoder = new TextEncoder();

const LINE_BREAK = 10;
const SPACE = 32;
const EXCLAMATION_MARK = 33;
const COMMA = 44;
const MINUS = 45;
const ZERO = 48;

/**
 * The return value of a script, as `lua/program/main.lua` describes it, read one operation after the other.
 *
 * All that follows throws a TypeError if no script of this package returned the value, but for example a proxy in front of
 * Redis.
 */
export class ScriptReply {
  readonly #text: string;
  /** The codes of the text, because methods of strings are slow in a process that has loaded ioredis 6. */
  readonly #codes: Uint8Array;
  /** The messages of the operations that failed, in order. */
  readonly #messages: Iterator<unknown>;
  /** How many operations the script ran. It leaves the others when it reaches its step limit. */
  readonly length: number;
  /** The server's time of the current operation, which is also the stamp of what it recorded. */
  #stamp: number;
  /** Where the line of the current operation starts, and where the rest of the text that is not read yet starts. */
  #lineStart = 0;
  #position = 0;

  constructor(value: unknown, operationCount: number) {
    const [text, ...messages] = Array.isArray(value) ? (value as unknown[]) : [value];
    if (typeof text !== 'string' || !REPLY.test(text)) throw unexpectedReply(text);
    this.#text = `${text}\n`;
    this.#codes = encoder.encode(this.#text);
    this.#messages = messages.values();
    this.length = countLines(this.#codes) - 1;
    if (this.length > operationCount) throw unexpectedReply(text);
    const seconds = this.#readNumber();
    this.#expect(SPACE);
    this.#stamp = seconds * 1e6 + this.#readNumber() - 1;
    this.#expect(LINE_BREAK);
  }

  /** Moves on to the next operation, and reads its error if it failed. */
  nextError(): Error | undefined {
    this.#stamp += 1;
    this.#lineStart = this.#position;
    if (this.#codes[this.#position] !== EXCLAMATION_MARK) return undefined;
    this.#position += 2;
    const message: unknown = this.#messages.next().value;
    if (typeof message !== 'string') throw unexpectedReply(message);
    return new Error(message);
  }

  /** Reads the result of the current operation. */
  readResult(operation: DecisionOperation): CheckResult {
    const figures: Figures[] = [];
    for (const { limit } of operation.encodedPlan.plan.rules) {
      if (figures.length > 0) this.#expect(COMMA);
      figures.push(this.#readFigures(limit));
    }
    this.#expect(LINE_BREAK);
    return toCheckResult(operation, figures, this.#stamp);
  }

  /** Reads the lost leases of the current operation, by their indices. */
  readLostIndices({ leases }: RenewOperation): number[] {
    const indices: number[] = [];
    while (this.#codes[this.#position] !== LINE_BREAK) {
      if (indices.length > 0) this.#expect(SPACE);
      indices.push(this.#readNumber());
    }
    this.#expect(LINE_BREAK);
    if (indices.some((index) => leases[index] === undefined)) throw this.#unexpectedLine();
    return indices;
  }

  /** Reads the count of the current operation. */
  readCount(): number {
    const count = this.#readNumber();
    this.#expect(LINE_BREAK);
    return count;
  }

  /** Reads the current operation, which has no result. */
  readNoResult(): void {
    this.#expect(LINE_BREAK);
  }

  /** Reads the numbers of a rule. */
  #readFigures({ windowMicros }: Limit): Figures {
    const numbers = [this.#readNumber()];
    while (this.#codes[this.#position] === SPACE) {
      this.#position += 1;
      numbers.push(this.#readNumber());
    }
    const figures = toFigures(numbers, windowMicros);
    if (figures === undefined || figures.remaining < 0 || figures.reset < 0) throw this.#unexpectedLine();
    return figures;
  }

  /** Reads a whole number that is exact. */
  #readNumber(): number {
    const codes = this.#codes;
    const isNegative = codes[this.#position] === MINUS;
    const start = isNegative ? this.#position + 1 : this.#position;
    let position = start;
    let number = 0;
    for (let code = codes[position]!; code >= ZERO; code = codes[position]!) {
      number = number * 10 + (code - ZERO); // In this order, the largest exact number stays exact.
      position += 1;
    }
    this.#position = position;
    if (position === start || !Number.isSafeInteger(number) || (isNegative && number === 0))
      throw this.#unexpectedLine();
    return isNegative ? -number : number;
  }

  #expect(code: number): void {
    if (this.#codes[this.#position] !== code) throw this.#unexpectedLine();
    this.#position += 1;
  }

  #unexpectedLine(): TypeError {
    return unexpectedReply(this.#text.slice(this.#lineStart, this.#text.indexOf('\n', this.#lineStart)));
  }
}

function countLines(codes: Uint8Array): number {
  let count = 0;
  for (let position = 0; position < codes.length; position++) if (codes[position] === LINE_BREAK) count += 1;
  return count;
}

/** What the numbers of a rule mean, as `lua/program/main.lua` describes them. */
function toFigures(numbers: readonly number[], windowMicros: number): Figures | undefined {
  const first = numbers[0]!;
  switch (numbers.length) {
    case 1:
      return { delay: 0, wait: 0, remaining: first, reset: windowMicros, last: 0 };
    case 2:
      if (first < 0) return { delay: REJECTED, wait: -first, remaining: 0, reset: numbers[1]!, last: -first };
      return { delay: 0, wait: 0, remaining: first, reset: numbers[1]!, last: 0 };
    case 3:
      return { delay: 0, wait: 0, remaining: first, reset: numbers[1]!, last: numbers[2]! };
    case 5:
      return { delay: first, wait: numbers[1]!, remaining: numbers[2]!, reset: numbers[3]!, last: numbers[4]! };
    default:
      return undefined;
  }
}

function unexpectedReply(value: unknown): TypeError {
  const got = formatValue(value);
  return new TypeError(`Expected the result of a script, got ${got}. Is the client connected to Redis?`);
}

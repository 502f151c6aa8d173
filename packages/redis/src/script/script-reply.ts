import type { Limit } from '@rollgate/core';
import { formatValue } from '@rollgate/core/store';
import type { CheckResult, DecisionOperation, RenewOperation } from '../operations/operations.js';
import { type Figures, toCheckResult } from './check-result.js';
import { isPossible, toFigures, toPlainFigures } from './figures.js';

/** The server's time, then a line for each operation. The text of another program thus settles no operation of a batch. */
const REPLY = /^\d+ \d+(?:\n(?:!|[-\d ]*(?:[:-y]{6,9})?(?:,[-\d ]*(?:[:-y]{6,9})?)*))+$/;

const encoder = new TextEncoder();

const LINE_BREAK = 10;
const SPACE = 32;
const EXCLAMATION_MARK = 33;
const COMMA = 44;
const MINUS = 45;
const ZERO = 48;
/** The letter that is the digit 0 of a number in letters. The letters follow the decimal digits. */
const ZERO_LETTER = 58;

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

  /** Reads the line of the current operation as it is. */
  readLine(): string {
    const end = this.#text.indexOf('\n', this.#lineStart);
    this.#position = end + 1;
    return this.#text.slice(this.#lineStart, end);
  }

  /** Whether the current operation has no result. */
  get isEmptyLine(): boolean {
    return this.#codes[this.#position] === LINE_BREAK;
  }

  /** Reads the current operation, which has no result. */
  readNoResult(): void {
    this.#expect(LINE_BREAK);
  }

  /** Reads the numbers of a rule. */
  #readFigures({ limit, windowMicros }: Limit): Figures {
    const figures = this.#startsLetters
      ? toPlainFigures(this.#readLetters(), limit, windowMicros)
      : toFigures(this.#readNumbers(), windowMicros, this.#startsLetters ? this.#readLetters() : undefined);
    if (figures === undefined || !isPossible(figures, limit)) throw this.#unexpectedLine();
    return figures;
  }

  get #startsLetters(): boolean {
    return this.#codes[this.#position]! >= ZERO_LETTER;
  }

  #readNumbers(): number[] {
    const numbers = [this.#readNumber()];
    while (this.#codes[this.#position] === SPACE) {
      this.#position += 1;
      numbers.push(this.#readNumber());
    }
    return numbers;
  }

  /** Reads a number in letters, as `lua/program/letters.lua` describes it. */
  #readLetters(): number {
    const codes = this.#codes;
    let position = this.#position;
    let number = 0;
    let unit = 1;
    for (let code = codes[position]!; code >= ZERO_LETTER; code = codes[position]!) {
      number += (code - ZERO_LETTER) * unit;
      unit *= 64;
      position += 1;
    }
    this.#position = position;
    if (!Number.isSafeInteger(number)) throw this.#unexpectedLine();
    return number;
  }

  /** Reads a whole number that is exact. */
  #readNumber(): number {
    const codes = this.#codes;
    const isNegative = codes[this.#position] === MINUS;
    const start = isNegative ? this.#position + 1 : this.#position;
    let position = start;
    let number = 0;
    for (let code = codes[position]!; code >= ZERO && code < ZERO_LETTER; code = codes[position]!) {
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

function unexpectedReply(value: unknown): TypeError {
  const got = formatValue(value);
  return new TypeError(`Expected the result of a script, got ${got}. Is the client connected to Redis?`);
}

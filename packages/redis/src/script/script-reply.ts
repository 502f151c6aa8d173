import type { Limit, LimitDecision } from '@rollgate/core';
import { costAt, formatValue, hasQuota } from '@rollgate/core/store';
import type { CheckResult, DecisionOperation, RenewOperation } from '../operations/operations.js';
import { type RedisHit, RedisReceipt } from '../operations/receipt.js';

/** The server's time, then a line for each operation. The text of another program thus settles no operation of a batch. */
const REPLY = /^\d+ \d+(?:\n(?:!|[-\d ]*(?:,[-\d ]*)*))*(?:\n\+)?$/;

const encoder = new TextEncoder();

/** The numbers of a result while it is read, so that reading one allocates no array. */
const numbers = new Float64Array(10);

const LINE_BREAK = 10;
const SPACE = 32;
const EXCLAMATION_MARK = 33;
const COMMA = 44;
const MINUS = 45;
const ZERO = 48;
const NINE = 57;

/** The delay of a rule whose `minDifference` rejects. */
const TOO_SOON = -2;
/** The delay of a rule that rejects because of reserved units, so that its wait is advice. */
const RESERVED = -3;

/**
 * The return value of a script, as `lua/program/main.lua` describes it, read one operation after the other.
 *
 * All that follows throws a TypeError if no script of this package returned the value, but for example a proxy in front of
 * Redis.
 */
export class ScriptReply {
  /** A reply that stays, because V8 drops the compiled code of a class with its last object, and the code of each check with it. */
  static readonly kept = new ScriptReply('1700000000 1\n1', 1);

  readonly #text: string;
  /** The codes of the text, because methods of strings are slow in a process that has loaded ioredis 6. */
  readonly #codes: Uint8Array;
  /** The messages of the operations that failed, in order. */
  readonly #messages: Iterator<unknown>;
  /** How many operations the script ran. It leaves the others when it reaches its step limit, and the last one if it must run again. */
  readonly length: number;
  /** The server's time of the current operation, which is also the stamp of what it recorded. */
  #stamp: number;
  /** Where the line of the current operation starts, and where the rest of the text that is not read yet starts. */
  #lineStart = 0;
  #position = 0;
  /**
   * Of the current operation: how far ahead of now each rule has recorded, if it has, and how long its figures stay. The array may
   * have more items, of an operation with more rules. To empty an array by its length takes 500 instructions.
   */
  readonly #aheads: (number | undefined)[] = [];
  #stableMicros = Infinity;

  /** @param buffer Keeps the codes of a text that fits, until the result of the last operation is read. */
  constructor(value: unknown, operationCount: number, buffer?: Uint8Array) {
    const [text, ...messages] = Array.isArray(value) ? (value as unknown[]) : [value];
    if (typeof text !== 'string' || !REPLY.test(text)) throw unexpectedReply(text);
    this.#text = `${text}\n`;
    const size = this.#text.length; // It has no other characters than those of ASCII.
    this.#codes = buffer !== undefined && size <= buffer.length ? buffer : new Uint8Array(size);
    encoder.encodeInto(this.#text, this.#codes);
    this.#messages = messages.values();
    let lineCount = 0;
    for (let index = 0; index < size; index++) if (this.#codes[index] === LINE_BREAK) lineCount += 1;
    const mustRunAgain = text.endsWith('+');
    this.length = lineCount - (mustRunAgain ? 2 : 1);
    if (lineCount === 1 || lineCount - 1 > operationCount) throw unexpectedReply(text);
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
    const { rules } = operation.encodedPlan.plan;
    this.#stableMicros = Infinity;
    const nowMicros = operation.clockMicros ?? this.#stamp;
    // A literal has room for one item, and an array that grows has room for 17.
    const limitDecisions = [this.#readRule(rules[0]!.limit, 0, nowMicros)];
    let allowed = limitDecisions[0]!.allowed || rules[0]!.limit.enforced === false;
    for (let index = 1; index < rules.length; index++) {
      this.#expect(COMMA);
      const decision = this.#readRule(rules[index]!.limit, index, nowMicros);
      limitDecisions.push(decision);
      allowed &&= decision.allowed || rules[index]!.limit.enforced === false;
    }
    this.#expect(LINE_BREAK);
    const receipt = operation.kind === 'check' ? this.#toReceipt(operation, allowed) : undefined;
    return { limitDecisions, receipt, stableMicros: this.#stableMicros };
  }

  /** The receipt of an allowed check has all of its rules. That of a rejected one has those that have recorded the attempt. */
  #toReceipt({ encodedPlan, keys, costs, clockMicros }: DecisionOperation, allowed: boolean): RedisReceipt | undefined {
    const nowMicros = clockMicros ?? this.#stamp;
    let hits: RedisHit[] | undefined;
    for (let index = 0; index < encodedPlan.plan.rules.length; index++) {
      const ahead = this.#aheads[index];
      if (ahead === undefined && !allowed) continue;
      const atMicros = ahead === undefined ? 0 : nowMicros + ahead;
      const hit = { key: keys[index]!, index, atMicros, cost: costAt(costs, index) };
      if (hits === undefined) hits = [hit];
      else hits.push(hit);
    }
    return hits && new RedisReceipt(this.#stamp, nowMicros, encodedPlan, hits);
  }

  /** Reads the result of a rule, as `lua/program/decide.lua` describes it. */
  #readRule(by: Limit, index: number, nowMicros: number): LimitDecision {
    const { limit } = by;
    const first = this.#readNumber();
    if (this.#codes[this.#position] !== SPACE) {
      // Of an action that was recorded.
      const remaining = first % (limit + 1);
      const nextUnit = (first - remaining) / (limit + 1);
      if (remaining < 0 || !(nextUnit > 0 && nextUnit <= by.windowMicros)) throw this.#unexpectedLine();
      this.#aheads[index] = 0;
      return {
        allowed: true,
        limit,
        remaining,
        retryAfterMs: 0,
        resetMs: by.windowMicros / 1000,
        nextUnitMs: nextUnit / 1000,
        delayMs: 0,
      };
    }
    numbers[0] = first;
    let count = 1;
    for (; this.#codes[this.#position] === SPACE; count++) {
      this.#position += 1;
      numbers[count] = this.#readNumber();
    }
    let delay = first;
    let wait = numbers[1]!;
    let remaining = numbers[2]!;
    let reset = numbers[3]!;
    let nextUnit = numbers[4]!;
    // Of an action that was recorded, an even number of figures. More than six end with its usage.
    let ahead = count > 5 && count % 2 === 0 ? numbers[5] : undefined;
    const usageAt = count < 7 ? 0 : ahead === undefined ? 5 : 6;
    if (count === 2 && first < 0) {
      // Of a rejection until the next unit is free.
      reset = wait;
      wait = nextUnit = -first;
      delay = -1;
      remaining = 0;
    } else if (count === 3) {
      // Of an action that was recorded at now without a delay.
      nextUnit = remaining;
      reset = wait;
      remaining = first;
      delay = wait = ahead = 0;
    } else if (count < 5 || count > 10 || (count > 7 && !by.addPeriod)) throw this.#unexpectedLine();
    wait = orInfinity(wait);
    reset = orInfinity(reset);
    nextUnit = orInfinity(nextUnit);
    const isBlock = !hasQuota(by);
    // Only a block can last forever.
    if (!(remaining >= 0 && nextUnit >= 0 && nextUnit <= reset) || (reset === Infinity && !isBlock))
      throw this.#unexpectedLine();
    this.#aheads[index] = ahead;
    const allowed = delay >= 0;
    if (ahead === undefined) {
      this.#stableMicros = Math.min(
        this.#stableMicros,
        allowed ? Infinity : wait,
        nextUnit === 0 ? Infinity : nextUnit,
      );
    }
    const reason = isBlock ? 'blocked' : delay === TOO_SOON ? 'minDifference' : 'limit';
    const isEstimate = delay === RESERVED || (by.holdsSlots && !allowed && wait !== Infinity);
    const decision: LimitDecision = {
      allowed,
      limit: count > 8 ? Math.min(limit + numbers[usageAt + 2]!, Number.MAX_SAFE_INTEGER) : limit,
      remaining: isBlock && remaining > 0 ? Infinity : remaining,
      retryAfterMs: wait / 1000,
      resetMs: reset / 1000,
      nextUnitMs: by.holdsSlots ? undefined : nextUnit / 1000,
      delayMs: allowed ? delay / 1000 : 0,
      ...(allowed ? undefined : { reason }),
      ...(isEstimate ? { retryIsEstimate: true } : undefined),
      ...(usageAt > 0 ? { spent: numbers[usageAt], reserved: numbers[usageAt + 1] } : undefined),
    };
    if (usageAt > 0 && by.addPeriod) {
      by.addPeriod(decision, nowMicros);
      // A result without a wait names its period, too, which ends.
      if (ahead === undefined)
        this.#stableMicros = Math.min(this.#stableMicros, decision.periodEndsAt! * 1000 - nowMicros);
    }
    return decision;
  }

  /** Reads the lost leases of the current operation, by their indices. */
  readLostIndices({ leases }: RenewOperation): number[] {
    const line = this.readLine();
    const indices = line === '' ? [] : line.split(' ');
    if (!indices.every((index) => Object.hasOwn(leases, index))) throw this.#unexpectedLine();
    return indices.map(Number);
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

  /** Reads a whole number that is exact. */
  #readNumber(): number {
    const codes = this.#codes;
    const isNegative = codes[this.#position] === MINUS;
    const start = isNegative ? this.#position + 1 : this.#position;
    let position = start;
    let number = 0;
    for (let code = codes[position]!; code >= ZERO && code <= NINE; code = codes[position]!) {
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

function orInfinity(micros: number): number {
  return micros === -1 ? Infinity : micros;
}

function unexpectedReply(value: unknown): TypeError {
  const got = formatValue(value);
  return new TypeError(`Expected the result of a script, got ${got}. Is the client connected to Redis?`);
}

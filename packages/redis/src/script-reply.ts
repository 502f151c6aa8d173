import type { Limit, LimitDecision } from '@rollgate/core';
import type { Rule } from '@rollgate/core/store';
import { type CheckOperation, type CheckResult, Receipt, type RecordedHit } from './operations.js';

/** What the script returns, read from front to back: see `lua/main.lua`. */
export class ScriptReply {
  readonly #serverMicros: number;
  readonly #lines: readonly string[];
  /** The time and the lines, then the messages of failed operations. */
  readonly #value: readonly [serverMicros: number | string, lines: string, ...messages: string[]];
  #place = -1;
  #nextMessage = 2;

  constructor(value: unknown) {
    this.#value = value as [number | string, string];
    const [serverMicros, lines] = this.#value;
    this.#serverMicros = Number(serverMicros); // A client may have been told to leave numbers as text.
    this.#lines = lines.split('\n');
  }

  /** How many operations were run. The script leaves the others when it has done enough. */
  get length(): number {
    return this.#lines.length;
  }

  /** Goes on to the next operation; the error when it failed. */
  nextError(): Error | undefined {
    const line = this.#lines[++this.#place]!;
    return line === '!' ? new Error(this.#value[this.#nextMessage++] as string) : undefined;
  }

  /** What the script said of this question, the present operation. */
  answerTo(question: CheckOperation): CheckResult {
    const { rules } = question.encoded.plan;
    const line = this.#lines[this.#place]!;
    return rules.length === 1 && isPlain(line)
      ? this.#plainAnswer(question, rules[0]!.limit, line)
      : this.#answer(question, rules, line.split(',').map(toNumbers));
  }

  /** What the script counted in the present operation. */
  get counted(): number {
    return Number(this.#lines[this.#place]);
  }

  /** As {@link #answer} for the usual check, of one rule that recorded: without its lists, which cost several times as much. */
  #plainAnswer({ encoded, cost, keys, clockMicros }: CheckOperation, limit: Limit, line: string): CheckResult {
    const space = line.indexOf(' ');
    const second = line.indexOf(' ', space + 1);
    const reset = second < 0 ? line.slice(space + 1) : line.slice(space + 1, second);
    const said = toLimitDecision(limit, 0, 0, Number(line.slice(0, space)), Number(reset));
    const nowMicros = clockMicros ?? this.#stamp;
    const atMicros = second < 0 ? nowMicros : nowMicros + Number(line.slice(second + 1));
    const hit: RecordedHit = { key: keys[0]!, index: 0, atMicros };
    return { said: [said], receipt: new Receipt(this.#stamp, nowMicros, cost, encoded, [hit]), steadyMicros: 0 };
  }

  #answer(
    { encoded, cost, keys, kind, clockMicros }: CheckOperation,
    rules: readonly Rule[],
    words: readonly Numbers[],
  ): CheckResult {
    const allowed = words.every(([delay]) => !isRejection(delay));
    const nowMicros = clockMicros ?? this.#stamp;
    const hits: RecordedHit[] = [];
    let steadyMicros = Infinity;
    const said = rules.map(({ limit }, index): LimitDecision => {
      const [delay, wait, remaining, reset, last] = words[index]!;
      if (kind === 'check' && (allowed || limit.countRejected)) {
        hits.push({ key: keys[index]!, index, atMicros: nowMicros + last });
      } else {
        steadyMicros = Math.min(steadyMicros, orNever(last), isRejection(delay) ? orNever(wait) : Infinity);
      }
      return toLimitDecision(limit, delay, wait, remaining, reset);
    });
    const receipt = hits.length === 0 ? undefined : new Receipt(this.#stamp, nowMicros, cost, encoded, hits);
    return { said, receipt, steadyMicros };
  }

  /** The time of the present operation, by the server, and the stamp of what it recorded. */
  get #stamp(): number {
    return this.#serverMicros + this.#place;
  }
}

/** The delay, or a number below 0 for a rejection; the wait, the units left, the reset; how far ahead it was recorded, or how steady it is. */
type Numbers = readonly [delay: number, wait: number, remaining: number, reset: number, last: number];

/** What the script says of one rule. */
function toNumbers(part: string): Numbers {
  const numbers = part.split(' ').map(Number);
  if (numbers.length === 5) return numbers as unknown as Numbers;
  const [remaining, reset, last = 0] = numbers as [number, number, number?];
  return [0, 0, remaining, reset, last];
}

/** Whether a line is of one rule that recorded: it has three numbers at most. */
function isPlain(line: string): boolean {
  const second = line.indexOf(' ', line.indexOf(' ') + 1);
  return second < 0 || second === line.lastIndexOf(' ');
}

function toLimitDecision(
  { limit }: Limit,
  delay: number,
  wait: number,
  remaining: number,
  reset: number,
): LimitDecision {
  const allowed = !isRejection(delay);
  const decision: LimitDecision = {
    allowed,
    limit,
    remaining,
    retryAfterMs: orNever(wait) / 1000,
    resetMs: reset / 1000,
    delayMs: allowed ? delay / 1000 : 0,
  };
  return allowed ? decision : { ...decision, reason: delay === MIN_DIFFERENCE ? 'minDifference' : 'limit' };
}

/** In the place of a delay: the rule rejects by its `minDifference`. Any other number below 0 is the limit's rejection. */
const MIN_DIFFERENCE = -2;

function isRejection(delay: number): boolean {
  return delay < 0;
}

/** The script says "never" by a number that is no wait. */
function orNever(micros: number): number {
  return micros < 0 ? Infinity : micros;
}

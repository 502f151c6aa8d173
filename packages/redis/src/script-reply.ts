import type { Limit, LimitDecision, RollingWindow } from '@rollgate/core';
import { costAt, formatValue, type Rule } from '@rollgate/core/store';
import { type CheckResult, type DecisionOperation, Receipt, type RecordedHit } from './operations.js';

/** The return value of a script, as `lua/main.lua` describes it, read one operation after the other. */
export class ScriptReply {
  readonly #serverMicros: number;
  /** The server's time, then a line for each operation. */
  readonly #lines: readonly string[];
  readonly #messages: readonly string[];
  #index = 0;
  #messageIndex = 0;

  /** @throws TypeError if no script of this package returned the value, but for example a proxy in front of Redis. */
  constructor(value: unknown) {
    const [text, ...messages] = Array.isArray(value) ? (value as string[]) : [value as string];
    this.#lines = typeof text === 'string' ? text.split('\n') : [];
    this.#messages = messages;
    const [seconds, micros] = (this.#lines[0] ?? '').split(' ');
    this.#serverMicros = Number(seconds) * 1e6 + Number(micros);
    // Every script runs an operation. Without this check, the store would send the same operations again and again.
    if (this.length < 1 || Number.isNaN(this.#serverMicros)) throw unexpectedReply(text);
  }

  /** How many operations the script ran. It leaves the others when it reaches its step limit. */
  get length(): number {
    return this.#lines.length - 1;
  }

  /** Moves on to the next operation, and returns its error if it failed. */
  nextError(): Error | undefined {
    const line = this.#lines[++this.#index]!;
    return line === '!' ? new Error(this.#messages[this.#messageIndex++]) : undefined;
  }

  /** The result of the current operation. */
  resultOf(operation: DecisionOperation): CheckResult {
    const { rules } = operation.encodedPlan.plan;
    const line = this.#lines[this.#index]!;
    if (rules.length === 1 && isSingleRecord(line)) return this.#singleResult(operation, rules[0]!.limit, line);
    const figures = line.split(',').map((part, index) => toFigures(part, rules[index]!.limit));
    return this.#result(operation, rules, figures);
  }

  /** The lost leases of the current operation, by their indices. */
  get lostIndices(): number[] {
    const line = this.#lines[this.#index]!;
    return line === '' ? [] : line.split(' ').map(Number);
  }

  /** The count of the current operation. */
  get count(): number {
    return Number(this.#lines[this.#index]);
  }

  /** Does the same as {@link #result} for a check of one rule that recorded. The lists would take several times as long. */
  #singleResult({ encodedPlan, costs, keys, clockMicros }: DecisionOperation, limit: Limit, line: string): CheckResult {
    const space = line.indexOf(' ');
    const nowMicros = clockMicros ?? this.#stamp;
    let [remaining, resetMicros, atMicros] = [Number(line), windowOf(limit), nowMicros];
    if (space >= 0) {
      const second = line.indexOf(' ', space + 1);
      remaining = Number(line.slice(0, space));
      resetMicros = Number(second < 0 ? line.slice(space + 1) : line.slice(space + 1, second));
      if (second >= 0) atMicros += Number(line.slice(second + 1));
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

  /** The server's time of the current operation, which is also the stamp of what it recorded. */
  get #stamp(): number {
    return this.#serverMicros + this.#index - 1;
  }
}

function unexpectedReply(value: unknown): TypeError {
  const got = formatValue(value);
  return new TypeError(`Expected the result of a script, got ${got}. Is the client connected to Redis?`);
}

/**
 * What the script returns for one rule, in microseconds. `delay` is below 0 for a rejection. `last` is how far ahead of now
 * the hit was recorded; if nothing was recorded, it is how long the other figures are stable.
 */
type Figures = readonly [delay: number, wait: number, remaining: number, reset: number, last: number];

function toFigures(part: string, limit: Limit): Figures {
  const [first, second, third, fourth, fifth] = part.split(' ');
  if (fifth !== undefined) return [Number(first), Number(second), Number(third), Number(fourth), Number(fifth)];
  const reset = second === undefined ? windowOf(limit) : Number(second);
  return [0, 0, Number(first), reset, third === undefined ? 0 : Number(third)];
}

/** The reset of a usual check, whose limits are rolling windows. */
function windowOf(limit: Limit): number {
  return (limit as RollingWindow).windowMicros;
}

/** Whether a line describes one rule that recorded. Then it has at most three numbers. */
function isSingleRecord(line: string): boolean {
  const second = line.indexOf(' ', line.indexOf(' ') + 1);
  return second < 0 || second === line.lastIndexOf(' ');
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

import type { Limit } from '@rollgate/core';
import { formatValue } from '@rollgate/core/store';

const DIGITS = /^\d+$/;

export function unexpectedReply(value: unknown): TypeError {
  const got = formatValue(value);
  return new TypeError(`Expected the result of a script, got ${got}. Is the client connected to Redis?`);
}

/**
 * What the script returns for one rule, in microseconds. `delay` is below 0 for a rejection. `last` is how far ahead of now
 * the hit was recorded; if nothing was recorded, it is how long the other figures are stable.
 */
export type Figures = readonly [delay: number, wait: number, remaining: number, reset: number, last: number];

/** A usual check omits the reset, which is the window of its limit. Its rejections have the wait and the reset only. */
export function toFigures(part: string, limit: Limit): Figures {
  if (isFull(part)) {
    const { wait, reset } = toRejection(part);
    return [-1, wait, 0, reset, wait];
  }
  const texts = part.split(' ');
  const isLong = texts.length === 5;
  if (texts.length > 3 && !isLong) throw unexpectedReply(part);
  const [delay, wait] = isLong ? texts.splice(0, 2) : ['0', '0'];
  const [remaining, reset, last = '0'] = texts;
  const resetMicros = reset === undefined ? limit.windowMicros : toNatural(reset);
  return [toNumber(delay!), toNumber(wait!), toNatural(remaining!), resetMicros, toNumber(last)];
}

/** Whether a usual check found that the limit has no units left. */
function isFull(part: string): boolean {
  return part.startsWith('-') && part.indexOf(' ') === part.lastIndexOf(' ');
}

/** The times of a result that {@link isFull}, in microseconds. */
function toRejection(part: string): { readonly wait: number; readonly reset: number } {
  const space = part.indexOf(' ');
  return { wait: toNatural(part.slice(1, space)), reset: toNatural(part.slice(space + 1)) };
}

/** The text contains digits, minus signs and commas only. */
export function toNumber(text: string): number {
  const number = text === '' ? Number.NaN : Number(text);
  if (!Number.isFinite(number)) throw unexpectedReply(text);
  return number;
}

/** A number of units or microseconds, which is never negative. */
function toNatural(text: string): number {
  const number = Number(text);
  if (!DIGITS.test(text) || !Number.isSafeInteger(number)) throw unexpectedReply(text);
  return number;
}

import type { Quota } from '../limits.js';
import { visible } from './visible.js';

/** `1,234`. */
export function whole(count: number): string {
  return count.toLocaleString('en-US');
}

/** `1 caller`, `2 callers`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${whole(count)} ${count === 1 ? one : many}`;
}

/** `0.261 %`: three digits, below ten per cent. */
export function percent(part: number, all: number): string {
  const share = all === 0 ? 0 : (part / all) * 100;
  return `${Number(share >= 10 ? share.toFixed(1) : share.toPrecision(3))} %`;
}

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1000],
] as const;

/** `1m`, `90s`, `250ms`: as options take it. */
export function duration(ms: number): string {
  const [unit, length] = UNITS.find(([, unitMs]) => ms % unitMs === 0) ?? ['ms', 1];
  return `${ms / length}${unit}`;
}

/** `100/1m`. */
export function quotaText({ limit, windowMs }: Quota): string {
  return `${limit}/${duration(windowMs)}`;
}

/** ISO 8601. */
export function isoTime(micros: number): string {
  return new Date(Math.floor(micros / 1000)).toISOString();
}

/** `2015-05-17 10:05:03`, UTC. */
export function time(micros: number): string {
  return isoTime(micros).slice(0, 19).replace('T', ' ');
}

/** See {@link visible}; cut to `longest` characters. */
export function plain(text: string, longest = 60): string {
  const shown = visible(text);
  // No half of a character that takes two.
  return shown.length > longest ? `${shown.slice(0, longest - 1).replace(/[\ud800-\udbff]$/, '')}…` : shown;
}

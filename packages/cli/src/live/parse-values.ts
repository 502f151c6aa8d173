import { parseDurationOption, usage } from '../usage.js';

/** Creates a parser for a number of rows. */
export function parseCount(option: string): (text: string) => number {
  return (text) => {
    if (/^[1-9]\d{0,5}$/.test(text)) return Number(text);
    throw usage(option, 'a number from 1 to 999999', text);
  };
}

/** Creates a parser for a duration, in milliseconds. */
export function parseTime(option: string): (text: string) => number {
  return (text) => parseDurationOption(option, text);
}

/** Collects names in a list, such as `--x a --x b` or `--x a,b`. */
export function parseNames(text: string, before: readonly string[] = []): string[] {
  return [...before, ...text.split(',').map((name) => name.trim())];
}

import { clarifyUnit, invalidOption, readDuration } from '@rollgate/core/store';
import { UsageError } from './errors.js';

const EXPECTED_DURATION = 'a time with its unit, such as `1m` or `60000ms`, at most 100 years';

/** Parses a duration such as `10s`, `1m` or `2h` to milliseconds. */
export function parseDurationOption(option: string, text: string): number {
  const ms = readDuration(text);
  if (ms === undefined) throw usage(option, clarifyUnit(text) ?? EXPECTED_DURATION, text);
  return ms;
}

export function usage(option: string, expected: string, value: unknown): UsageError {
  return new UsageError(invalidOption(option, expected, value).message);
}

/** Collects a repeated option, such as `--x a --x b` or `--x a,b`, in a list. */
export const listOf =
  <Value>(parse: (text: string) => Value) =>
  (text: string, before: readonly Value[] = []) => [...before, ...text.split(',').map((part) => parse(part.trim()))];

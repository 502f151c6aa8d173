import { withCode } from './error-codes.js';
import { suggestOption } from './option-suggestions.js';

// How every package validates its options. Each error names the option, the value and its type.

const MAX_SHOWN = 80;

/** Formats a value with its type for an error message, for example `NaN (number)` or `"10" (string)`. */
export function formatValue(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  const type = typeof value;
  if (type === 'object') return `${Array.isArray(value) ? 'an array' : 'an object'} (object)`;
  if (type === 'function') return 'a function (function)';
  if (type !== 'string') return `${String(value)} (${type})`;
  const text = value as string;
  const shown = text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
  return `${JSON.stringify(shown)} (string)`;
}

/** Returns the message of an error, or formats a thrown value that is not one. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : formatValue(thrown);
}

/** Creates the error for options that are invalid, with a message of its own. */
export function optionError(message: string, options?: { readonly cause: unknown }): TypeError {
  return withCode('ERR_ROLLGATE_INVALID_OPTION', new TypeError(message, options));
}

/** Creates the error for an invalid value. */
export function invalidOption(option: string, expected: string, value: unknown): TypeError {
  return optionError(expectedMessage(option, expected, value));
}

/** Creates the error for an invalid number: a RangeError, or a TypeError if the value is not a number. */
export function invalidNumber(option: string, expected: string, value: unknown): TypeError | RangeError {
  const message = expectedMessage(option, expected, value);
  const error = typeof value === 'number' ? new RangeError(message) : new TypeError(message);
  return withCode('ERR_ROLLGATE_INVALID_OPTION', error);
}

function expectedMessage(option: string, expected: string, value: unknown): string {
  return `Expected \`${option}\` to be ${expected}, got ${formatValue(value)}`;
}

/** Returns `value` if it is an integer from 1 to 2^53 - 1, and throws otherwise. */
export function validatePositiveInteger(option: string, value: unknown): number {
  if (Number.isSafeInteger(value) && (value as number) > 0) return value as number;
  throw invalidNumber(option, 'a positive safe integer', value);
}

/** Returns `value` if it is the quota of a limit: an integer from 0 to 2^53 - 1, or `Infinity`. Throws otherwise. */
export function validateQuota(option: string, value: unknown): number {
  if (value === Infinity || (Number.isSafeInteger(value) && (value as number) >= 0)) return Math.abs(value as number);
  throw invalidNumber(option, 'a positive safe integer, 0 or Infinity', value);
}

/** Returns `value` if it is an integer from `least` to `most`, and throws otherwise. */
export function validateIntegerBetween(option: string, value: unknown, least: number, most: number): number {
  if (Number.isInteger(value) && (value as number) >= least && (value as number) <= most) return value as number;
  throw invalidNumber(option, `an integer from ${least} to ${most}`, value);
}

/** Throws unless `value` is a function or absent. */
export function validateOptionalFunction(option: string, value: unknown): void {
  if (value !== undefined && typeof value !== 'function') throw invalidOption(option, 'a function', value);
}

/** Returns `value` if it is a boolean, and throws otherwise. */
export function validateBoolean(option: string, value: unknown): boolean {
  if (typeof value === 'boolean') return value;
  throw invalidOption(option, 'a boolean', value);
}

/** Returns `value` if it is a string, and throws otherwise. */
export function validateString(option: string, value: unknown): string {
  if (typeof value === 'string') return value;
  throw invalidOption(option, 'a string', value);
}

/** Returns `value` if it is one of `choices`, and throws otherwise. */
export function validateOneOf<const Choice extends string>(
  option: string,
  value: unknown,
  choices: readonly Choice[],
): Choice {
  if (choices.includes(value as Choice)) return value as Choice;
  throw invalidOption(option, `one of ${choices.map((choice) => `'${choice}'`).join(', ')}`, value);
}

/** Whether `value` is an object with all of `methods`. */
export function hasMethods(value: unknown, methods: readonly string[]): boolean {
  return (
    typeof value === 'object' &&
    value !== null &&
    methods.every((method) => typeof (value as Record<string, unknown>)[method] === 'function')
  );
}

/**
 * Throws unless `options` is an object whose properties are all in `known`, because an unknown option is probably a
 * typing mistake. `subject` is the function or class that takes the options.
 */
export function validateOptionNames(subject: string, options: unknown, known: readonly string[]): void {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    const expected = known.includes('limits') ? 'an object such as `{ limits: … }`' : 'an object';
    throw invalidOption(`${subject} options`, expected, options);
  }
  for (const name of Object.keys(options)) {
    if (known.includes(name)) continue;
    const value = (options as Record<string, unknown>)[name];
    const suggestion = suggestOption(name, options, known);
    const message = `Unknown option \`${name}\` for ${subject}, got ${formatValue(value)}${suggestion}`;
    throw withCode('ERR_ROLLGATE_UNKNOWN_OPTION', new TypeError(message));
  }
}

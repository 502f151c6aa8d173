import type { Limits, OnStoreError, Store } from '@rollgate/core';
import {
  DEFAULT_TIMEOUT_MS,
  invalidOption,
  parseDuration,
  ROLLING_WINDOW_OPTIONS,
  validateBoolean,
  validateIntegerBetween,
  validateOneOf,
  validateOptionalFunction,
} from '@rollgate/core/store';
import { createAllowList } from '../client/allow-list.js';
import { HEADERS } from '../headers/rate-limit-headers.js';
import { resolveMessageOption } from '../rejection/message-option.js';
import { resolveStatusOption } from '../rejection/status.js';
import { WARNING_CODES, type WarningCode } from '../warnings/warnings.js';
import type { CommonOptions } from './options.js';

/** Validates the value of an option, and returns what the limiter uses: the value, its default, or what it describes. */
type Parser = (name: string, value?: never) => unknown;

const parseFlag = (name: string, value: unknown = false) => validateBoolean(name, value);

/** Returns `unknown`, because the function's type depends on the host. See {@link ParsedOptions}. */
function parseFunction(name: string, value: unknown): unknown {
  validateOptionalFunction(name, value);
  return value;
}

/** Whether requests are always counted is known here, so that no request has to decide it. */
function parseSkip(name: string, value?: boolean | object): unknown {
  if (value === undefined || value === false) return undefined;
  if (value === true) return () => true;
  if (typeof value === 'function') return value;
  throw invalidOption(name, 'a boolean or a function', value);
}

function parseSilence(name: string, value: unknown = []): readonly WarningCode[] {
  if (!Array.isArray(value)) throw invalidOption(name, 'an array of warning codes', value);
  return value.map((code, index) => validateOneOf(`${name}[${index}]`, code, WARNING_CODES));
}

/** The parser of each common option. `resolveHttpOptions` applies the rules between several of them. */
const PARSERS = {
  key: parseFunction,
  ipv6Prefix: (name, value: unknown = 56) => validateIntegerBetween(name, value, 1, 128),
  cost: (_name, value: unknown = 1) => value, // `validateCost` needs the limits.
  skip: parseSkip,
  allowList: (_name, value: readonly string[] | false = false) =>
    value === false ? undefined : createAllowList(value),
  skipSuccessfulRequests: parseFlag,
  skipFailedRequests: parseFlag,
  skipAbortedRequests: parseFlag,
  requestWasSuccessful: parseFunction,
  onLimited: parseFunction,
  onExceeded: parseFunction,
  dryRun: parseFlag,
  store: (_name, value?: Store) => value, // The `RateLimiter` validates the store, the prefix and the policy.
  prefix: (_name, value?: string) => value,
  name: (_name, value?: string) => value,
  timeout: (name, value: unknown = DEFAULT_TIMEOUT_MS) => parseDuration(name, value),
  onStoreError: (_name, value: OnStoreError = 'fallback') => value,
  headers: (name, value: unknown = 'x-ratelimit') => validateOneOf(name, value, HEADERS),
  resetUnit: (name, value: unknown) => validateOneOf(name, value, ['epoch', 'delta']),
  exposeHeaders: parseFlag,
  statusCode: (_name, value: unknown = 429) => resolveStatusOption(value),
  message: (_name, value: unknown) => resolveMessageOption(value),
  problem: parseFlag,
  silence: parseSilence,
} satisfies { readonly [Name in keyof CommonOptions<never>]-?: Parser };

type Parsers = typeof PARSERS;

/** The names of all options that adapters have in common. */
export const OPTION_NAMES: readonly string[] = [
  ...ROLLING_WINDOW_OPTIONS,
  'limits',
  'fallbackLimits',
  ...Object.keys(PARSERS),
];

/** The validated options, with their defaults. */
export type ParsedOptions<Request, Response> = {
  readonly [Name in keyof Parsers]: unknown extends ReturnType<Parsers[Name]>
    ? Exclude<CommonOptions<Request, Limits, Response>[Name], boolean>
    : ReturnType<Parsers[Name]>;
};

/** @throws TypeError, RangeError with the name of the invalid option. */
export function parseOptions<Request, Response>(
  options: CommonOptions<Request, Limits, Response>,
): ParsedOptions<Request, Response> {
  const parsed = Object.entries<Parser>(PARSERS).map(([name, parse]) => [name, parse(name, options[name as never])]);
  return Object.fromEntries(parsed);
}

import { type Cost, type Limits, type LimitsFrom, type OnStoreError, RateLimiter, type Store } from '@rollgate/core';
import {
  DEFAULT_TIMEOUT_MS,
  invalidOption,
  optionError,
  type ParsedLimits,
  parseDuration,
  ROLLING_WINDOW_OPTIONS,
  validateBoolean,
  validateIntegerBetween,
  validateOneOf,
  validateOptionalFunction,
  validateOptionNames,
  validatePositiveInteger,
} from '@rollgate/core/store';
import { createAllowList } from '../client/allow-list.js';
import { HEADERS } from '../headers/rate-limit-headers.js';
import type { Host, RequestReader } from '../host/host.js';
import { limitsByName } from '../limits/limits-by-name.js';
import { resolveMessageOption } from '../rejection/message-option.js';
import { resolveStatusOption } from '../rejection/rejection.js';
import { UsageChecks } from '../warnings/usage-checks.js';
import { WARNING_CODES, type WarningCode } from '../warnings/warnings.js';
import { type ResolvedLimits, resolveLimits } from './limits-option.js';
import type { CommonOptions, HttpOptions } from './options.js';

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

/**
 * Validates the option `cost` where it is a value. The limiter validates the costs of each request.
 *
 * @param limits The limits, if they are the same for every request.
 * @throws TypeError, RangeError with the invalid cost.
 */
export function validateCost(cost: unknown, limits: ParsedLimits | undefined): Cost {
  if (typeof cost !== 'object' || cost === null || Array.isArray(cost)) return validatePositiveInteger('cost', cost);
  const names = limits === undefined ? undefined : Object.keys(limitsByName(limits));
  for (const [name, units] of Object.entries(cost)) {
    if (names?.includes(name) === false) {
      throw invalidOption('cost', `a record with the names ${names.join(', ')}`, name);
    }
    if (units !== undefined && units !== 0) validatePositiveInteger(`cost.${name}`, units);
  }
  return cost as Cost;
}

/** The option `address` of adapters that have it. */
interface AddressOption<Request> {
  readonly address?: (request: Request) => string | undefined;
}

/**
 * Returns a host whose requests have the addresses that the option `address` returns, so that its own settings do not matter. It is
 * the same one without the option, which only hosts have that list it in `ownOptions`.
 *
 * @throws TypeError if `address` is not a function.
 */
export function withAddress<Request, Response, Target>(
  host: Host<Request, Response, Target>,
  options: HttpOptions<Request, Limits, Response> & AddressOption<Request>,
): Host<Request, Response, Target> {
  const { address } = options;
  if (address === undefined) return host;
  validateOptionalFunction('address', address);
  return { ...host, getClientAddress: address, findProxyMistake: () => undefined };
}

/** The message for `requestWasSuccessful` without an option that uses it. */
const UNUSED_FUNCTION =
  'Expected `skipSuccessfulRequests` or `skipFailedRequests` with `requestWasSuccessful`, got neither. It has no effect alone';

/** An adapter's validated options, with every default filled in, and what was created from them. */
export interface ResolvedHttpOptions<Request, Response> extends ParsedOptions<Request, Response> {
  readonly limiter: RateLimiter;
  readonly limits: ResolvedLimits<Request>;
  readonly usageChecks: UsageChecks;
}

/**
 * Validates an adapter's options once, and fills in the defaults.
 *
 * @param host The adapter. It validates the values of `ownOptions`, except `address`.
 * @throws TypeError, RangeError with the name of the invalid option.
 */
export function resolveHttpOptions<Request, Response>(
  host: Pick<RequestReader<Request>, 'name' | 'ownOptions' | 'resetUnit'>,
  options: HttpOptions<Request, Limits, Response>,
): ResolvedHttpOptions<Request, Response> {
  validateOptionNames(host.name, options, [...OPTION_NAMES, ...host.ownOptions]);
  const { resetUnit = host.resetUnit } = options;
  const parsed = parseOptions<Request, Response>({ ...options, resetUnit });
  const { cost, store, prefix, name, dryRun, timeout, onStoreError, silence } = parsed;
  const { requestWasSuccessful, skipSuccessfulRequests, skipFailedRequests } = parsed;
  if (requestWasSuccessful !== undefined && !skipSuccessfulRequests && !skipFailedRequests)
    throw optionError(UNUSED_FUNCTION);
  const limits = resolveLimits(options);
  if (typeof cost !== 'function') validateCost(cost, limits.fixed);
  const { fallbackLimits } = options as { fallbackLimits?: LimitsFrom<Limits> };
  const limiter = new RateLimiter({
    limits: limits.fixed ?? null,
    store,
    prefix,
    name,
    dryRun,
    timeout,
    onStoreError,
    fallbackLimits,
  });
  const usageChecks = new UsageChecks(silence);
  if (limits.sample !== undefined) usageChecks.inspectKeySharing(store, limiter.prefix, limits.sample);
  return { ...parsed, limiter, limits, usageChecks };
}

/**
 * Overrides the options of an app with those of one of its routes. A route with `limits` inherits no window settings, and
 * vice versa. A route with either does not inherit the limits of an outage.
 */
export function mergeOptions<Merged>(app: object, route: object): Merged {
  const inherited: { [name: string]: unknown } = { ...app };
  const given = Object.entries(route).filter(([, value]) => value !== undefined);
  const names = given.map(([name]) => name);
  const drop = (...dropped: string[]) => {
    for (const name of dropped) delete inherited[name];
  };
  if (names.includes('limits')) drop(...ROLLING_WINDOW_OPTIONS, 'fallbackLimits');
  if (ROLLING_WINDOW_OPTIONS.some((name) => names.includes(name))) drop('limits', 'fallbackLimits');
  return { ...inherited, ...Object.fromEntries(given) } as Merged;
}

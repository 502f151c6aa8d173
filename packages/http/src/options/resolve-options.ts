import { type Awaitable, type Cost, type Decision, type Key, type Limits, RateLimiter } from '@rollgate/core';
import {
  invalidOption,
  parseDuration,
  ROLLING_WINDOW_OPTIONS,
  validateBoolean,
  validateIntegerBetween,
  validateOneOf,
  validateOptionalFunction,
  validateOptionNames,
  withCode,
} from '@rollgate/core/store';
import type { ResetUnit } from '../base/host.js';
import { createAllowList } from '../client/allow-list.js';
import { HEADERS, type Headers } from '../headers/header-options.js';
import type { RefundRules } from '../refunds/refund-rules.js';
import { type MessageOption, resolveMessageOption } from '../rejection/message-option.js';
import { UsageChecks } from '../warnings/usage-checks.js';
import { WARNING_CODES, type WarningCode } from '../warnings/warning-codes.js';
import { validateCost } from './cost-option.js';
import { type ResolvedLimits, resolveLimits } from './limits-option.js';
import type { HttpOptions } from './options.js';

const COMMON_OPTIONS = [
  'limits',
  'key',
  'ipv6Prefix',
  'cost',
  'skip',
  'allowList',
  'skipSuccessfulRequests',
  'skipFailedRequests',
  'skipAbortedRequests',
  'requestWasSuccessful',
  'onLimited',
  'dryRun',
  'store',
  'prefix',
  'timeout',
  'onStoreError',
  'headers',
  'resetUnit',
  'exposeHeaders',
  'statusCode',
  'message',
  'problem',
  'silence',
] as const;

/** An adapter's validated options, with every default filled in. */
export interface ResolvedOptions<Request, Response> {
  readonly limiter: RateLimiter;
  readonly limits: ResolvedLimits<Request>;
  readonly key: ((request: Request) => Awaitable<Key>) | undefined;
  readonly ipv6Prefix: number;
  readonly cost: Cost | ((request: Request) => Awaitable<Cost>);
  readonly skip: ((request: Request) => Awaitable<boolean>) | undefined;
  readonly isOnAllowList: ((address: string) => boolean) | undefined;
  /** `undefined` when no request is ever refunded. */
  readonly refundRules: RefundRules<Request, Response> | undefined;
  readonly onLimited: ((request: Request, decision: Decision) => Awaitable<void>) | undefined;
  readonly dryRun: boolean;
  readonly timeoutMs: number;
  readonly headers: Headers;
  readonly resetUnit: ResetUnit;
  readonly exposeHeaders: boolean;
  readonly statusCode: number;
  readonly message: MessageOption<Request>;
  readonly problem: boolean;
  readonly usageChecks: UsageChecks;
}

/**
 * Validates an adapter's options once, and fills in the defaults.
 *
 * @param adapterName The name in errors about unknown options.
 * @param ownOptions The options that only this adapter has. The adapter validates their values itself.
 * @param defaultResetUnit The default of `resetUnit` for this adapter.
 * @throws TypeError, RangeError with the name of the invalid option.
 */
export function resolveOptions<Request, Response>(
  adapterName: string,
  options: HttpOptions<Request, Limits, Response>,
  ownOptions: readonly string[],
  defaultResetUnit: ResetUnit,
): ResolvedOptions<Request, Response> {
  validateOptionNames(adapterName, options, [...ROLLING_WINDOW_OPTIONS, ...COMMON_OPTIONS, ...ownOptions]);
  const { key, ipv6Prefix = 56, cost = 1, skip, allowList, onLimited, silence = [] } = options;
  const { store, prefix = 'rollgate', timeout = 500, onStoreError = 'fallback' } = options;
  for (const [name, value] of Object.entries({ key, skip, onLimited })) validateOptionalFunction(name, value);
  if (key !== undefined && options.ipv6Prefix !== undefined) throw keyAndPrefixError();
  const limits = resolveLimits(options);
  if (typeof cost !== 'function') validateCost(cost, limits.fixed);
  const limiter = new RateLimiter({ limits: limits.fixed ?? null, store, prefix, timeout, onStoreError });
  const timeoutMs = parseDuration('timeout', timeout);
  const usageChecks = new UsageChecks(resolveSilence(silence));
  if (limits.sample !== undefined) usageChecks.inspectKeySharing(store, prefix, limits.sample);
  return {
    limiter,
    limits,
    key,
    ipv6Prefix: validateIntegerBetween('ipv6Prefix', ipv6Prefix, 1, 128),
    cost,
    skip,
    isOnAllowList: allowList === undefined || allowList === false ? undefined : createAllowList(allowList),
    refundRules: resolveRefundRules(options, usageChecks, timeoutMs),
    onLimited,
    dryRun: readFlag(options, 'dryRun'),
    timeoutMs,
    ...resolveResponseOptions(options, defaultResetUnit),
    usageChecks,
  };
}

type ResponseOption = 'headers' | 'resetUnit' | 'exposeHeaders' | 'statusCode' | 'message' | 'problem';

function resolveResponseOptions<Request, Response>(
  options: HttpOptions<Request, Limits, Response>,
  defaultResetUnit: ResetUnit,
): Pick<ResolvedOptions<Request, Response>, ResponseOption> {
  const { headers = 'x-ratelimit', resetUnit = defaultResetUnit } = options;
  const { statusCode = 429, message } = options;
  return {
    headers: validateOneOf('headers', headers, HEADERS),
    resetUnit: validateOneOf('resetUnit', resetUnit, ['epoch', 'delta']),
    exposeHeaders: readFlag(options, 'exposeHeaders'),
    statusCode: validateIntegerBetween('statusCode', statusCode, 400, 599),
    message: resolveMessageOption(message),
    problem: readFlag(options, 'problem'),
  };
}

type Flag = 'dryRun' | 'exposeHeaders' | 'problem' | `skip${'Successful' | 'Failed' | 'Aborted'}Requests`;

/** Returns the option `name`, which is `false` by default. */
function readFlag(options: Readonly<Partial<Record<Flag, boolean | undefined>>>, name: Flag): boolean {
  const { [name]: flag = false } = options;
  return validateBoolean(name, flag);
}

function keyAndPrefixError(): Error {
  const message =
    'Expected either `key` or `ipv6Prefix`, got both. `ipv6Prefix` does not apply to your own keys. Cut addresses in `key` with `createClientKey(ipv6Prefix)`';
  return withCode('ERR_ROLLGATE_INVALID_OPTION', new TypeError(message));
}

function resolveSilence(silence: readonly WarningCode[]): readonly WarningCode[] {
  if (!Array.isArray(silence)) throw invalidOption('silence', 'an array of warning codes', silence);
  return silence.map((code, index) => validateOneOf(`silence[${index}]`, code, WARNING_CODES));
}

function resolveRefundRules<Request, Response>(
  options: HttpOptions<Request, Limits, Response>,
  usageChecks: UsageChecks,
  timeoutMs: number,
): RefundRules<Request, Response> | undefined {
  const { requestWasSuccessful } = options;
  const skipSuccessful = readFlag(options, 'skipSuccessfulRequests');
  const skipFailed = readFlag(options, 'skipFailedRequests');
  const skipAborted = readFlag(options, 'skipAbortedRequests');
  validateOptionalFunction('requestWasSuccessful', requestWasSuccessful);
  if (skipSuccessful || skipFailed || (skipAborted && requestWasSuccessful === undefined)) {
    const onError = (thrown: unknown) => usageChecks.reportFailure('ROLLGATE_REQUEST_WAS_SUCCESSFUL_FAILED', thrown);
    return { skipSuccessful, skipFailed, skipAborted, wasSuccessful: requestWasSuccessful, timeoutMs, onError };
  }
  if (requestWasSuccessful === undefined) return undefined;
  throw withCode(
    'ERR_ROLLGATE_INVALID_OPTION',
    new TypeError(
      'Expected `skipSuccessfulRequests` or `skipFailedRequests` with `requestWasSuccessful`, got neither. It has no effect alone',
    ),
  );
}

import { isNativeError } from 'node:util/types';
import { type Awaitable, type Decision, type Key, type Limits, RateLimiter } from '@rollgate/core';
import { parseDuration, ROLLING_WINDOW_OPTIONS, validate, withCode } from '@rollgate/core/store';
import { createAllowList } from './allow-list.js';
import { HEADERS, type Headers, type ResetUnit } from './header-options.js';
import { type LimitsSource, toLimitsSource } from './limits-source.js';
import { Mistakes } from './mistakes.js';
import type { HttpOptions } from './options.js';
import type { RefundRules } from './refunds.js';
import { WARNING_CODES, type WarningCode } from './warnings.js';

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

/** What a refusal says, by what the user gave: a text, an object's members and the same as JSON, or a function. */
export interface Message<Request> {
  readonly text?: string;
  readonly members?: object;
  readonly json?: string;
  readonly error?: Error;
  readonly of?: (request: Request, decision: Decision) => Awaitable<string | object>;
}

/** The options with every default filled in. */
export interface Settings<Request, Response> {
  readonly limiter: RateLimiter;
  readonly limits: LimitsSource<Request>;
  readonly key: ((request: Request) => Awaitable<Key>) | undefined;
  readonly ipv6Prefix: number;
  readonly cost: number | ((request: Request) => Awaitable<number>);
  readonly skip: ((request: Request) => Awaitable<boolean>) | undefined;
  readonly isAllowed: ((address: string) => boolean) | undefined;
  /** `undefined` when every request that was let through counts. */
  readonly refunds: RefundRules<Request, Response> | undefined;
  readonly onLimited: ((request: Request, decision: Decision) => Awaitable<void>) | undefined;
  readonly dryRun: boolean;
  readonly timeoutMs: number;
  readonly headers: Headers;
  readonly resetUnit: ResetUnit;
  readonly exposeHeaders: boolean;
  readonly statusCode: number;
  readonly message: Message<Request>;
  readonly problem: boolean;
  readonly mistakes: Mistakes;
}

/**
 * Checks an adapter's options, once, and fills in the defaults.
 *
 * @param ownOptions The options that only this adapter has; it checks their values itself.
 * @throws TypeError, RangeError naming the option that is wrong.
 */
export function toSettings<Request, Response>(
  subject: string,
  options: HttpOptions<Request, Limits, Response>,
  ownOptions: readonly string[],
  usualResetUnit: ResetUnit,
): Settings<Request, Response> {
  validate.knownOptions(subject, options, [...ROLLING_WINDOW_OPTIONS, ...COMMON_OPTIONS, ...ownOptions]);
  const { key, ipv6Prefix = 56, cost = 1, skip, allowList, onLimited, dryRun = false } = options;
  const { store, prefix = 'rollgate', timeout = 500, onStoreError = 'fallback' } = options;
  const { headers = 'x-ratelimit', resetUnit = usualResetUnit, exposeHeaders = false, statusCode = 429 } = options;
  const { problem = false, silence = [] } = options;
  for (const [name, value] of Object.entries({ key, skip, onLimited })) validate.optionalFunction(name, value);
  if (key !== undefined && options.ipv6Prefix !== undefined) {
    const message =
      'Expected either `key` or `ipv6Prefix`, got both: `ipv6Prefix` has no effect on your own keys. Cut addresses in `key` with `createClientKey(ipv6Prefix)`';
    throw withCode('ERR_ROLLGATE_INVALID_OPTION', new TypeError(message));
  }
  if (typeof cost !== 'function') validate.positiveInteger('cost', cost);
  const limits = toLimitsSource(options);
  const limiter = new RateLimiter({ limits: limits.fixed ?? null, store, prefix, timeout, onStoreError });
  const timeoutMs = parseDuration('timeout', timeout);
  const mistakes = new Mistakes(toSilence(silence));
  if (limits.like !== undefined) mistakes.sharesKeys(store, prefix, limits.like);
  return {
    limiter,
    limits,
    key,
    ipv6Prefix: validate.integerBetween('ipv6Prefix', ipv6Prefix, 1, 128),
    cost,
    skip,
    isAllowed: allowList === undefined || allowList === false ? undefined : createAllowList(allowList),
    refunds: toRefundRules(options, mistakes, timeoutMs),
    onLimited,
    dryRun: validate.boolean('dryRun', dryRun),
    timeoutMs,
    headers: validate.oneOf('headers', headers, HEADERS),
    resetUnit: validate.oneOf('resetUnit', resetUnit, ['epoch', 'delta']),
    exposeHeaders: validate.boolean('exposeHeaders', exposeHeaders),
    statusCode: validate.integerBetween('statusCode', statusCode, 400, 599),
    message: toMessage(options.message),
    problem: validate.boolean('problem', problem),
    mistakes,
  };
}

function toSilence(silence: readonly WarningCode[]): readonly WarningCode[] {
  if (!Array.isArray(silence)) throw validate.invalidOption('silence', 'an array of codes of warnings', silence);
  return silence.map((code, index) => validate.oneOf(`silence[${index}]`, code, WARNING_CODES));
}

function toRefundRules<Request, Response>(
  options: HttpOptions<Request, Limits, Response>,
  mistakes: Mistakes,
  timeoutMs: number,
): RefundRules<Request, Response> | undefined {
  const { skipSuccessfulRequests = false, skipFailedRequests = false, skipAbortedRequests = false } = options;
  const { requestWasSuccessful } = options;
  const skipSuccessful = validate.boolean('skipSuccessfulRequests', skipSuccessfulRequests);
  const skipFailed = validate.boolean('skipFailedRequests', skipFailedRequests);
  const skipAborted = validate.boolean('skipAbortedRequests', skipAbortedRequests);
  validate.optionalFunction('requestWasSuccessful', requestWasSuccessful);
  if (skipSuccessful || skipFailed || (skipAborted && requestWasSuccessful === undefined)) {
    const onError = (thrown: unknown) => mistakes.failed('ROLLGATE_REQUEST_WAS_SUCCESSFUL_FAILED', thrown);
    return { skipSuccessful, skipFailed, skipAborted, wasSuccessful: requestWasSuccessful, timeoutMs, onError };
  }
  if (requestWasSuccessful === undefined) return undefined;
  throw withCode(
    'ERR_ROLLGATE_INVALID_OPTION',
    new TypeError(
      'Expected `skipSuccessfulRequests` or `skipFailedRequests` with `requestWasSuccessful`, which does nothing alone',
    ),
  );
}

/** Once, here, where an object that cannot be sent is refused, and not for every refusal. */
function toMessage<Request>(message: unknown): Message<Request> {
  if (message === undefined) return {};
  if (typeof message === 'function') return { of: message as NonNullable<Message<Request>['of']> };
  return toSaid(message);
}

/** @throws TypeError when it is neither a text nor an object that can be sent. */
export function toSaid(message: unknown): Omit<Message<never>, 'of'> {
  if (typeof message === 'string') return { text: message };
  if (typeof message !== 'object' || message === null) {
    throw validate.invalidOption('message', 'a string, an object or a function that returns one', message);
  }
  if (message instanceof Error || isNativeError(message)) return { error: message };
  try {
    return { members: message, json: JSON.stringify(message) };
  } catch (cause) {
    throw withCode(
      'ERR_ROLLGATE_INVALID_OPTION',
      new TypeError(`Expected \`message\` to be an object that can be sent as JSON: ${String(cause)}`, { cause }),
    );
  }
}

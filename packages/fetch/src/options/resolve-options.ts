import { MemoryStore } from '@rollgate/core';
import {
  hasMethods,
  invalidOption,
  parseDuration,
  parseLimits,
  validateIntegerBetween,
  validateOptionalFunction,
  validateOptionNames,
} from '@rollgate/core/store';
import { type LimitRecord, OutgoingLimits, PREFIX } from '../calls/outgoing-limits.js';
import type { CallRequest, Dialect } from '../dialects/dialect.js';
import { draftHeaders } from '../dialects/draft-headers.js';
import { xRateLimit } from '../dialects/x-rate-limit.js';
import { OutgoingLimiter } from '../outgoing/outgoing-limiter.js';
import type { CallOptions, RetryOptions } from './fetch-options.js';

/** The options of calls, with defaults. */
export type ResolvedFetchOptions = ReturnType<typeof resolveFetchOptions>;

export const CALL_OPTIONS = [
  ...[
    'store',
    'bucket',
    'dialects',
    'cost',
    'limits',
    'key',
    'retry',
    'maxWait',
    'maxBlock',
    'lease',
    'onWait',
    'signal',
  ],
  ...['prefix', 'storeTimeout', 'onStoreError'],
];

/** @throws TypeError, RangeError naming the invalid option. */
export function resolveFetchOptions(options: CallOptions) {
  const { dialects = [draftHeaders(), xRateLimit()], retry = {} } = options;
  for (const name of ['bucket', 'cost', 'key', 'onWait'] as const) validateOptionalFunction(name, options[name]);
  validateDialects(dialects);
  const limits = resolveLimits(options.limits ?? {});
  if (options.signal !== undefined && !(options.signal instanceof AbortSignal))
    throw invalidOption('signal', 'an AbortSignal', options.signal);
  const store = options.store ?? new MemoryStore();
  const maxBlockMs = parseDuration('maxBlock', options.maxBlock ?? '1h');
  const units = [...new Set(dialects.flatMap((dialect) => dialect.units))];
  const lease = parseDuration('lease', options.lease ?? '30s');
  const outgoing = new OutgoingLimits(limits, units, { lease, maxAge: maxBlockMs });
  const limiter = new OutgoingLimiter<LimitRecord>({
    limits: outgoing.withNames([]),
    store,
    prefix: options.prefix ?? 'rollgate-fetch',
    timeout: options.storeTimeout,
    onStoreError: options.onStoreError,
  });
  return {
    ...{ limiter, limits: outgoing, dialects, cost: options.cost, key: options.key, onWait: options.onWait },
    clock: store.clock?.schedule && store.clock, // If it has timers.
    ownLimits: Object.keys(limits),
    bucket: options.bucket ?? (({ url }: CallRequest) => url.origin),
    ...resolveRetry(retry),
    maxWaitMs: parseDuration('maxWait', options.maxWait ?? '1m'),
    maxBlockMs,
  };
}

function validateDialects(dialects: unknown): void {
  if (!Array.isArray(dialects)) throw invalidOption('dialects', 'an array of dialects such as `github()`', dialects);
  for (const [index, dialect] of dialects.entries()) {
    if (!hasMethods(dialect, ['read']) || !Array.isArray((dialect as Dialect).units))
      throw invalidOption(`dialects[${index}]`, 'a dialect such as `github()`', dialect);
  }
}

function resolveLimits(limits: unknown): LimitRecord {
  if (typeof limits !== 'object' || limits === null)
    throw invalidOption('limits', "a record of limits such as `{ own: '100/1m' }`", limits);
  const reserved = Object.keys(limits).find((name) => name.startsWith(PREFIX));
  if (reserved !== undefined) throw invalidOption('limits', `names that don't begin with \`${PREFIX}\``, reserved);
  return parseLimits(limits) as LimitRecord;
}

function resolveRetry(retry: RetryOptions | false): { attempts: number; mayRepeat: MayRepeat } {
  if (retry === false) return { attempts: 1, mayRepeat: () => false };
  validateOptionNames('retry', retry, ['attempts', 'methods']);
  return {
    attempts: validateIntegerBetween('retry.attempts', retry.attempts ?? 3, 1, 100),
    mayRepeat: createMayRepeat(retry.methods ?? 'idempotent'),
  };
}

/** Whether a call may be sent again, by its method and headers. */
type MayRepeat = (method: string, hasIdempotencyKey: boolean) => boolean;

/** The methods that RFC 9110 defines as idempotent (section 9.2.2). */
const IDEMPOTENT = ['GET', 'HEAD', 'OPTIONS', 'TRACE', 'PUT', 'DELETE'];

/** @throws TypeError naming the option. */
function createMayRepeat(methods: NonNullable<RetryOptions['methods']>): MayRepeat {
  if (methods === 'all') return () => true;
  if (methods === 'idempotent') return (method, hasKey) => hasKey || IDEMPOTENT.includes(method);
  if (!Array.isArray(methods) || methods.some((method) => typeof method !== 'string'))
    throw invalidOption('retry.methods', "'idempotent', 'all' or an array such as ['GET', 'POST']", methods);
  const names = methods.map((method) => method.toUpperCase());
  return (method) => names.includes(method);
}

import {
  bucketedWindow,
  fixedWindow,
  type Limit,
  leakyBucket,
  rollingWindow,
  slidingWindowCounter,
  tokenBucket,
} from '@rollgate/core';
import { createPeriodicLimit, type Span } from './calendar-span.js';
import { UsageError } from './errors.js';
import { formatDuration } from './format-duration.js';

/** A number of units per window, or per period of a calendar. */
export interface Quota extends Span {
  readonly limit: number;
}

/** A quota with a unique name. */
export interface NamedQuota extends Quota {
  readonly name: string;
}

interface Definition {
  /** The function of the API that creates the limit. */
  readonly factory: (options: never) => Limit;
  readonly toOptions: (quota: Quota) => Readonly<Record<string, number | string>>;
}

const toWindowOptions = ({ limit, windowMs }: Quota) => ({ limit, window: formatDuration(windowMs) });

/** Creates `limit` units per window with each algorithm. As many requests may wait in the queue of the leaky bucket. */
const DEFINITIONS = {
  rolling: { factory: rollingWindow, toOptions: toWindowOptions },
  fixed: { factory: fixedWindow, toOptions: toWindowOptions },
  counter: { factory: slidingWindowCounter, toOptions: toWindowOptions },
  token: {
    factory: tokenBucket,
    toOptions: ({ limit, windowMs }) => ({ capacity: limit, refill: limit, every: formatDuration(windowMs) }),
  },
  leaky: {
    factory: leakyBucket,
    toOptions: (quota) => ({ capacity: quota.limit, interval: formatDuration(leakyIntervalMs(quota)) }),
  },
  bucketed: { factory: bucketedWindow, toOptions: toWindowOptions },
} satisfies Record<string, Definition>;

export type Algorithm = keyof typeof DEFINITIONS;

export const ALGORITHMS = Object.keys(DEFINITIONS) as Algorithm[];

/**
 * Returns the algorithm for its name in the API, or the name itself.
 *
 * @throws UsageError for an algorithm that a log cannot simulate.
 */
export function toAlgorithmName(name: string): string {
  if (name === 'concurrency') {
    throw new UsageError(
      '`--algorithm concurrency` is not supported, because Rollgate reads when a request started, and not how long it took. Use an algorithm with a window',
    );
  }
  if (name === 'calendar' || name === 'calendarWindow') {
    throw new UsageError(
      'Expected a period in `--limit` instead of the algorithm of calendars, such as `--limit 100/month`',
    );
  }
  return ALGORITHMS.find((algorithm) => DEFINITIONS[algorithm].factory.name === name) ?? name;
}

/**
 * Creates the limit of a quota. Periods of a calendar have their own algorithm.
 *
 * @throws TypeError, RangeError when the algorithm does not support the quota.
 */
export function createLimit(algorithm: Algorithm, quota: Quota): Limit {
  if (quota.periods !== undefined) return createPeriodicLimit(quota.limit, quota.periods);
  const { factory, toOptions } = DEFINITIONS[algorithm];
  return (factory as (options: object) => Limit)(toOptions(quota));
}

function toLimitCode(algorithm: Algorithm, quota: Quota): string {
  if (quota.periods !== undefined) return `calendarWindow(${toCode({ limit: quota.limit, ...quota.periods })})`;
  const { factory, toOptions } = DEFINITIONS[algorithm];
  return `${factory.name}(${toCode(toOptions(quota))})`;
}

/** The longest line of code, so that it fits 80 columns with its indentation. */
const MAX_LINE = 78;

/** Returns the code that sets the limits in an application. */
export function toRateLimitCode(algorithm: Algorithm, quotas: readonly NamedQuota[]): string {
  const [first, ...others] = quotas;
  if (others.length === 0 && algorithm === 'rolling' && first!.periods === undefined)
    return `rateLimit(${toCode(toWindowOptions(first!))})`;
  const limits = quotas.map((quota) => `${toKey(quota.name)}: ${toLimitCode(algorithm, quota)}`);
  const value = others.length === 0 ? toLimitCode(algorithm, first!) : `{ ${limits.join(', ')} }`;
  const line = `rateLimit({ limits: ${value} })`;
  if (line.length <= MAX_LINE) return line;
  const lines = others.length === 0 ? value : `{\n${limits.map((limit) => `    ${limit},\n`).join('')}  }`;
  return `rateLimit({\n  limits: ${lines},\n})`;
}

function toCode(options: Readonly<Record<string, unknown>>): string {
  const parts = Object.entries(options).map(([name, value]) => {
    if (typeof value === 'object') return `${name}: ${toCode(value as Readonly<Record<string, unknown>>)}`;
    return `${name}: ${typeof value === 'string' ? `'${value}'` : value}`;
  });
  return `{ ${parts.join(', ')} }`;
}

function toKey(name: string): string {
  return /^[a-z_]\w*$/i.test(name) ? name : `'${name}'`;
}

/**
 * The time between two requests that leave the queue, rounded up to the whole milliseconds that the engine takes. So a quota
 * that does not divide its window is almost reached and never exceeded.
 */
export function leakyIntervalMs({ limit, windowMs }: Quota): number {
  return Math.ceil(windowMs / limit);
}

import {
  bucketedWindow,
  fixedWindow,
  type Limit,
  leakyBucket,
  rollingWindow,
  slidingWindowCounter,
  tokenBucket,
} from '@rollgate/core';
import { formatDuration } from './format-duration.js';

/** A number of units per window. */
export interface Quota {
  readonly limit: number;
  readonly windowMs: number;
}

/** A quota with a unique name. */
export interface NamedQuota extends Quota {
  readonly name: string;
}

interface Definition {
  /** The function of the API that creates the limit. */
  readonly name: string;
  readonly create: (quota: Quota) => Limit;
  /** The options of that function, as code. */
  readonly options: (quota: Quota) => string;
}

const windowOptions = ({ limit, windowMs }: Quota) => `{ limit: ${limit}, window: ${quoted(windowMs)} }`;
const quoted = (ms: number) => `'${formatDuration(ms)}'`;

/** Creates `limit` units per window with each algorithm. As many requests may wait in the queue of the leaky bucket. */
const DEFINITIONS = {
  rolling: {
    name: 'rollingWindow',
    create: ({ limit, windowMs }) => rollingWindow({ limit, window: `${windowMs}ms` }),
    options: windowOptions,
  },
  fixed: {
    name: 'fixedWindow',
    create: ({ limit, windowMs }) => fixedWindow({ limit, window: `${windowMs}ms` }),
    options: windowOptions,
  },
  counter: {
    name: 'slidingWindowCounter',
    create: ({ limit, windowMs }) => slidingWindowCounter({ limit, window: `${windowMs}ms` }),
    options: windowOptions,
  },
  token: {
    name: 'tokenBucket',
    create: ({ limit, windowMs }) => tokenBucket({ capacity: limit, refill: limit, every: `${windowMs}ms` }),
    options: ({ limit, windowMs }) => `{ capacity: ${limit}, refill: ${limit}, every: ${quoted(windowMs)} }`,
  },
  leaky: {
    name: 'leakyBucket',
    create: (quota) => leakyBucket({ capacity: quota.limit, interval: `${leakyIntervalMs(quota)}ms` }),
    options: (quota) => `{ capacity: ${quota.limit}, interval: ${quoted(leakyIntervalMs(quota))} }`,
  },
  bucketed: {
    name: 'bucketedWindow',
    create: ({ limit, windowMs }) => bucketedWindow({ limit, window: `${windowMs}ms` }),
    options: windowOptions,
  },
} satisfies Record<string, Definition>;

export type Algorithm = keyof typeof DEFINITIONS;

export const ALGORITHMS = Object.keys(DEFINITIONS) as Algorithm[];

/** Returns the algorithm for its name in the API, or the name itself. */
export function toAlgorithmName(name: string): string {
  return ALGORITHMS.find((algorithm) => DEFINITIONS[algorithm].name === name) ?? name;
}

/** @throws TypeError, RangeError when the algorithm does not support the quota. */
export function makeLimit(algorithm: Algorithm, quota: Quota): Limit {
  return DEFINITIONS[algorithm].create(quota);
}

/** Returns the code that creates the limit. */
function limitCode(algorithm: Algorithm, quota: Quota): string {
  const { name, options } = DEFINITIONS[algorithm];
  return `${name}(${options(quota)})`;
}

/** Returns the line of code that sets the limits in an application. */
export function rateLimitCode(algorithm: Algorithm, quotas: readonly NamedQuota[]): string {
  const [first, ...others] = quotas;
  if (others.length === 0 && algorithm === 'rolling') return `rateLimit(${windowOptions(first!)})`;
  if (others.length === 0) return `rateLimit({ limits: ${limitCode(algorithm, first!)} })`;
  const limits = quotas.map((quota) => `${toKey(quota.name)}: ${limitCode(algorithm, quota)}`);
  return `rateLimit({ limits: { ${limits.join(', ')} } })`;
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

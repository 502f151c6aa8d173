import { type Algorithm, leakyIntervalMs, type NamedQuota } from '../algorithms.js';
import { formatDuration } from './format.js';

const text = (ms: number) => `'${formatDuration(ms)}'`;
const windowed = (name: string) => (quota: NamedQuota) =>
  `${name}({ limit: ${quota.limit}, window: ${text(quota.windowMs)} })`;

const CALLS: Readonly<Record<Algorithm, (quota: NamedQuota) => string>> = {
  rolling: windowed('rollingWindow'),
  fixed: windowed('fixedWindow'),
  counter: windowed('slidingWindowCounter'),
  bucketed: windowed('bucketedWindow'),
  token: ({ limit, windowMs }) => `tokenBucket({ capacity: ${limit}, refill: ${limit}, every: ${text(windowMs)} })`,
  leaky: (quota) => `leakyBucket({ capacity: ${quota.limit}, interval: ${text(leakyIntervalMs(quota))} })`,
};

/** Creates the line of code that sets the limits in an application. */
export function toCode(algorithm: Algorithm, quotas: readonly NamedQuota[]): string {
  const [first, ...others] = quotas as [NamedQuota, ...NamedQuota[]];
  if (others.length > 0) {
    const limits = quotas.map((quota) => `${toKey(quota.name)}: ${CALLS[algorithm](quota)}`);
    return `rateLimit({ limits: { ${limits.join(', ')} } })`;
  }
  if (algorithm !== 'rolling') return `rateLimit({ limits: ${CALLS[algorithm](first)} })`;
  return `rateLimit({ limit: ${first.limit}, window: ${text(first.windowMs)} })`;
}

function toKey(name: string): string {
  return /^[a-z_]\w*$/i.test(name) ? name : `'${name}'`;
}

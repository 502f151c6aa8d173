import { NAMES_OTHER_PACKAGES } from '../util/platform.js';

/**
 * Option names of other limiters and of Rollgate's other algorithms, each with Rollgate's names for the same setting.
 */
const ALIASES: Readonly<Record<string, readonly string[]>> = {
  addHeaders: ['headers'],
  addHeadersOnExceeding: ['headers'],
  blockDuration: ['blockFor'],
  cache: ['store'],
  capacity: ['limit'],
  client: ['store'],
  continueExceeding: ['countRejected'],
  duration: ['window', 'every', 'interval'],
  enableDraftSpec: ['headers'],
  errorResponseBuilder: ['message'],
  every: ['window', 'interval'],
  insuranceLimiter: ['onStoreError'],
  interval: ['window', 'every'],
  ipv6Subnet: ['ipv6Prefix'],
  keyGenerator: ['key'],
  keyPrefix: ['prefix'],
  legacyHeaders: ['headers'],
  limit: ['capacity', 'limits'],
  max: ['limit', 'capacity', 'maxKeys'],
  maxInInterval: ['limit', 'capacity'],
  nameSpace: ['prefix'],
  namespace: ['prefix'],
  onBanReach: ['onLimited'],
  passOnStoreError: ['onStoreError'],
  points: ['limit', 'capacity', 'cost'],
  redis: ['store'],
  skipOnError: ['onStoreError'],
  skipFailed: ['skipFailedRequests'],
  skipSuccessful: ['skipSuccessfulRequests'],
  standardHeaders: ['headers'],
  timeWindow: ['window', 'every', 'interval'],
  tokens: ['cost', 'capacity'],
  tokensPerInterval: ['refill'],
  validate: ['silence'],
  weight: ['cost'],
  whitelist: ['allowList'],
  window: ['every', 'interval'],
  windowMs: ['window', 'every', 'interval'],
};

/** What to use instead of options of other limiters for which Rollgate has no option. */
const BLOCKS = '. Block the key with a limit of `block()`, see https://rollgate-js.github.io/rollgate/blocks';
const INSTEAD: Readonly<Record<string, string>> = {
  ban: BLOCKS,
  exponentialBackoff: `${BLOCKS}#block-for-longer-each-time`,
};

/** A message lists all options only if they are few enough to read. */
const MAX_LISTED_OPTIONS = 8;

/** Whether a value is a limit, or text such as `'100/1m'`. */
const isLimitLike = (value: unknown): boolean =>
  typeof value === 'string' ? /^\d+\//.test(value) : (value as { algorithm?: unknown } | null)?.algorithm !== undefined;

/**
 * Completes the message about an option that is not in `known`: says how to pass limits that stand in place of the options, suggests
 * Rollgate's name, or lists the options.
 */
export function suggestOption(name: string, options: object, known: readonly string[]): string {
  const isInPlace = isLimitLike(options) || isLimitLike(options[name as never]);
  if (isInPlace && known.includes('limits')) return '. Pass limits as `{ limits: … }`';
  const counterpart = NAMES_OTHER_PACKAGES ? findCounterpart(name, known) : undefined;
  if (counterpart !== undefined) return counterpart;
  if (known.length > MAX_LISTED_OPTIONS) return '. Remove it, or see https://rollgate-js.github.io/rollgate/options';
  return `. The options are ${known.map((option) => `\`${option}\``).join(', ')}`;
}

function findCounterpart(name: string, known: readonly string[]): string | undefined {
  const alias = Object.hasOwn(ALIASES, name) ? ALIASES[name]!.find((other) => known.includes(other)) : undefined;
  if (alias !== undefined) return `. Rollgate's name for it is \`${alias}\``;
  return Object.hasOwn(INSTEAD, name) ? INSTEAD[name]! : undefined;
}

/**
 * Option names of other limiters and of Rollgate's other algorithms, each with Rollgate's names for the same setting.
 */
const ALIASES: Readonly<Record<string, readonly string[]>> = {
  addHeaders: ['headers'],
  addHeadersOnExceeding: ['headers'],
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
  onExceeded: ['onLimited'],
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
  blockDuration: BLOCKS,
  exponentialBackoff: `${BLOCKS}#block-for-longer-each-time`,
};

/** A message lists all options only if they are few enough to read. */
const MAX_LISTED_OPTIONS = 8;

/** Completes the message about an option that is not in `known`: suggests the probable name, or lists the options. */
export function suggestOption(name: string, known: readonly string[]): string {
  const alias = Object.hasOwn(ALIASES, name) ? ALIASES[name]!.find((other) => known.includes(other)) : undefined;
  if (alias !== undefined) return `. Rollgate's name for it is \`${alias}\``;
  if (Object.hasOwn(INSTEAD, name)) return INSTEAD[name]!;
  const nearest = findNearest(name, known);
  if (nearest !== undefined) return `. Did you mean \`${nearest}\`?`;
  if (known.length > MAX_LISTED_OPTIONS) return '. Remove it, or see https://rollgate-js.github.io/rollgate/options';
  return `. The options are ${known.map((option) => `\`${option}\``).join(', ')}`;
}

/** Returns the name with the smallest edit distance, if at most a third of it differs. */
function findNearest(name: string, known: readonly string[]): string | undefined {
  let nearest: string | undefined;
  let least = Infinity;
  for (const option of known) {
    const edits = editDistance(name.toLowerCase(), option.toLowerCase());
    if (edits < least && edits <= Math.max(1, Math.floor(option.length / 3))) {
      nearest = option;
      least = edits;
    }
  }
  return nearest;
}

/** The number of insertions, deletions, replacements and swaps of neighbors (optimal string alignment distance). */
function editDistance(from: string, to: string): number {
  if (Math.abs(from.length - to.length) > to.length) return Infinity;
  const rows = [Array.from({ length: to.length + 1 }, (_, column) => column)];
  for (let row = 1; row <= from.length; row++) {
    const edits = [row];
    for (let column = 1; column <= to.length; column++) {
      const same = from[row - 1] === to[column - 1];
      let least = Math.min(
        rows[row - 1]![column]! + 1,
        edits[column - 1]! + 1,
        rows[row - 1]![column - 1]! + (same ? 0 : 1),
      );
      const isSwap = row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      if (isSwap) least = Math.min(least, rows[row - 2]![column - 2]! + 1);
      edits.push(least);
    }
    rows.push(edits);
  }
  return rows[from.length]![to.length]!;
}

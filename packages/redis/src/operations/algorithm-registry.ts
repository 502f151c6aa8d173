import type {
  BucketedWindow,
  FixedWindow,
  LeakyBucket,
  Limit,
  RollingWindow,
  SlidingWindowCounter,
  TokenBucket,
} from '@rollgate/core';
import { closesUsedUp, reservesUnits, type ScriptedLimit, type SlotLimit, withCode } from '@rollgate/core/store';

/** What the store needs to know about an algorithm. Its steps are in `lua/<name>.lua`. */
interface Algorithm {
  /** The end of its keys. The slash separates it from the limit's name, which cannot contain one. */
  readonly suffix: string;
  /** The files of `lua/` that its steps need, in order. */
  readonly dependencies: readonly string[];
  /** The settings of a limit, in the order of the parameters of the script's `rule`. Without it, the limit knows them itself. */
  readonly settings?: (limit: never) => readonly number[];
}

const ALGORITHMS: Readonly<Record<string, Algorithm>> = {
  'rolling-window': {
    suffix: '',
    dependencies: [],
    settings: (by: RollingWindow) => [by.limit, by.windowMicros, by.minDifferenceMicros],
  },
  'fixed-window': {
    suffix: '/fw',
    dependencies: ['string-state', 'marked-state'],
    settings: (by: FixedWindow) => [by.limit, by.windowMicros, by.scale, by.minDifferenceMicros],
  },
  'sliding-window-counter': {
    suffix: '/swc',
    dependencies: ['mul-div', 'string-state', 'marked-state'],
    settings: (by: SlidingWindowCounter) => [by.limit, by.windowMicros, by.scale, by.minDifferenceMicros],
  },
  'token-bucket': {
    suffix: '/tb',
    dependencies: ['mul-div', 'string-state'],
    settings: (by: TokenBucket) => [by.limit, by.tokens, by.micros, by.windowMicros, by.scale, by.minDifferenceMicros],
  },
  'leaky-bucket': {
    suffix: '/lb',
    dependencies: ['string-state', 'marked-state'],
    settings: (by: LeakyBucket) => [by.limit, by.intervalMicros, by.scale],
  },
  'bucketed-window': {
    suffix: '/bw',
    dependencies: ['errors', 'string-state', 'bucket-counts'],
    settings: (by: BucketedWindow) => [by.limit, by.windowMicros, by.widthMicros, by.minDifferenceMicros],
  },
  'calendar-window': {
    suffix: '/cw',
    dependencies: ['string-state'],
  },
  block: {
    suffix: '/b',
    dependencies: ['string-state'],
    settings: (by: Limit) => (closesUsedUp(by) ? [by.windowMicros, 1] : [by.windowMicros]),
  },
  'leased-calendar-window': {
    suffix: '/cw',
    dependencies: ['errors', 'string-state', 'calendar-window'],
  },
  'reported-quota': {
    suffix: '/tq3',
    dependencies: ['errors', 'mul-div', 'string-state', 'reported-state', 'report-numbers'],
  },
  concurrency: {
    suffix: '/c',
    dependencies: ['errors'],
    settings: (by: SlotLimit) => [by.limit, by.leaseMicros, by.retryAfterMicros],
  },
};

const NAMES = Object.keys(ALGORITHMS);

/** The optional parts of the script: each algorithm, and the steps of a `RollingCounter`. */
const PARTS: readonly (readonly [name: string, dependencies: readonly string[]])[] = [
  ...Object.entries(ALGORITHMS).map(([name, { dependencies }]) => [name, dependencies] as const),
  ['rolling-counter', ['errors', 'bucket-counts']],
];

/** A set of optional parts of the script, one bit for each. */
export type ScriptParts = number;

/** The steps of a `RollingCounter`. */
export const COUNTER_PART: ScriptParts = 1 << (PARTS.length - 1);

/** The operations in `lua/program/changes.lua`. It comes after the algorithms, unlike the other parts. */
export const CHANGES_PART: ScriptParts = 1 << PARTS.length;

/** The operations on queues in `lua/queues`, which a store with `waiting` brings. */
export const QUEUES_PART: ScriptParts = 1 << (PARTS.length + 1);

/** The files of `lua/` that these parts consist of. Each file comes after those that it depends on. */
export function luaFilesOf(parts: ScriptParts): string[] {
  const included = PARTS.filter((_, index) => parts & (1 << index));
  const files = parts & CHANGES_PART ? ['errors', 'string-state'] : parts & QUEUES_PART ? ['errors'] : [];
  const dependencies = included.flatMap(([, names]) => names);
  return [...new Set([...files, ...dependencies, ...included.map(([name]) => name)])];
}

/** The algorithms of these parts. */
export function algorithmsOf(parts: ScriptParts): string[] {
  return NAMES.filter((name) => parts & partOfScript(name));
}

/** The part of the script with this name. */
export function partOfScript(name: string): ScriptParts {
  return 1 << NAMES.indexOf(name);
}

/** The name of the limit's steps in `lua/limits`. Those of a limit that may reserve units use the same keys as others. */
export function scriptNameOf(limit: Limit): string {
  const leased = `leased-${limit.algorithm}`;
  return reservesUnits(limit) && Object.hasOwn(ALGORITHMS, leased) ? leased : limit.algorithm;
}

/** The end of the limit's keys. Two algorithms never share a key, because neither can read the other's state. */
export function keySuffixOf(limit: Limit): string {
  return ALGORITHMS[scriptNameOf(limit)]!.suffix;
}

/**
 * Whether an action can be recorded at a time ahead of now, so that checks until then still decide exactly.
 *
 * @param canDateLogs Whether the log of a rolling window can contain hits that are ahead of now.
 */
export function canRecordAhead(limit: Limit, canDateLogs: boolean): boolean {
  const { algorithm, countRejected } = limit;
  return algorithm === 'token-bucket' || (algorithm === 'rolling-window' && canDateLogs && !countRejected);
}

/** How long the limit takes to free its whole quota, whenever that starts; 0 if it depends on the time. */
export function steadyPeriodOf({ algorithm, windowMicros }: Limit): number {
  return algorithm === 'rolling-window' || algorithm === 'token-bucket' ? windowMicros : 0;
}

/** A rule of a plan as the scripts read it: its algorithm, its settings, 1 if it counts rejected attempts, and whether it rejects. */
export function toRuleText(limit: Limit, nowMicros: number): string {
  const [algorithm, countsRejected, , ...settings] = encodeLimit(limit, nowMicros);
  const words = [algorithm, ...settings, ...(countsRejected ? [countsRejected] : [])];
  return [...words, ...(limit.enforced === false ? ['unenforced'] : [])].join(' ');
}

/**
 * Encodes a limit: its algorithm, 1 if it counts rejected attempts, the number of settings, the settings.
 *
 * @throws TypeError if no script implements the limit's algorithm.
 */
export function encodeLimit(limit: Limit, nowMicros: number): readonly (string | number)[] {
  const { countRejected } = limit;
  const algorithm = scriptNameOf(limit);
  if (!Object.hasOwn(ALGORITHMS, algorithm)) {
    const known = NAMES.filter((name) => name !== 'leased-calendar-window')
      .map((name) => `\`${name}\``)
      .join(', ');
    const message = `Expected a limit whose algorithm is one of ${known}, got \`${algorithm}\`, which RedisStore does not support. Use a MemoryStore for it`;
    throw withCode('ERR_ROLLGATE_UNSUPPORTED_ALGORITHM', new TypeError(message));
  }
  const settings = ALGORITHMS[algorithm]!.settings?.(limit as never) ?? (limit as ScriptedLimit).settingsAt(nowMicros);
  return [algorithm, countRejected ? 1 : 0, settings.length, ...settings];
}

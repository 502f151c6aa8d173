import type {
  BucketedWindow,
  FixedWindow,
  LeakyBucket,
  Limit,
  RollingWindow,
  SlidingWindowCounter,
  TokenBucket,
} from '@rollgate/core';
import { withCode } from '@rollgate/core/store';

/** What Redis has to know of an algorithm, the steps of which are in `lua/<name>.lua`. */
interface Twin {
  /** What its keys end with. The slash separates it from the limit's name, which contains none. */
  readonly suffix: string;
  /** The files of `lua/` that its steps need, in their order; `log` is the one that the store was told to use. */
  readonly needs: readonly string[];
  /** The numbers of a limit in the order in which the `rule` of its script takes them. */
  readonly numbers: (limit: never) => readonly number[];
}

const TWINS: Readonly<Record<string, Twin>> = {
  'rolling-window': {
    suffix: '',
    needs: ['log', 'hit-log'],
    numbers: (by: RollingWindow) => [by.limit, by.windowMicros, by.minDifferenceMicros],
  },
  'fixed-window': {
    suffix: '/fw',
    needs: ['string-state', 'min-difference'],
    numbers: (by: FixedWindow) => [by.limit, by.windowMicros, by.scale, by.minDifferenceMicros],
  },
  'sliding-window-counter': {
    suffix: '/swc',
    needs: ['mul-div', 'string-state', 'min-difference'],
    numbers: (by: SlidingWindowCounter) => [by.limit, by.windowMicros, by.scale, by.minDifferenceMicros],
  },
  'token-bucket': {
    suffix: '/tb',
    needs: ['mul-div', 'string-state', 'min-difference'],
    numbers: (by: TokenBucket) => [by.limit, by.tokens, by.micros, by.windowMicros, by.scale, by.minDifferenceMicros],
  },
  'leaky-bucket': {
    suffix: '/lb',
    needs: ['string-state'],
    numbers: (by: LeakyBucket) => [by.limit, by.intervalMicros, by.scale],
  },
  'bucketed-window': {
    suffix: '/bw',
    needs: ['string-state', 'min-difference', 'bucket-counts'],
    numbers: (by: BucketedWindow) => [by.limit, by.windowMicros, by.widthMicros, by.minDifferenceMicros],
  },
};

const NAMES = Object.keys(TWINS);

/** A part of the script that not every call needs: an algorithm, or the steps of a `RollingCounter`. */
const PARTS: readonly (readonly [name: string, needs: readonly string[]])[] = [
  ...Object.entries(TWINS).map(([name, { needs }]) => [name, needs] as const),
  ['rolling-counter', ['bucket-counts']],
];

/** A set of parts, as bits. */
export type Parts = number;

/** The steps of a `RollingCounter`. */
export const COUNTER_PART: Parts = 1 << (PARTS.length - 1);

/** The files of `lua/` that these parts are made of, each after those that it needs. */
export function filesOf(parts: Parts): string[] {
  const wanted = PARTS.filter((_, index) => parts & (1 << index));
  return [...new Set([...wanted.flatMap(([, needs]) => needs), ...wanted.map(([name]) => name)])];
}

/** The part of the script that decides by this limit. */
export function partOf({ algorithm }: Limit): Parts {
  return 1 << NAMES.indexOf(algorithm);
}

/** What the keys of this limit end with: no two algorithms share a key, for neither could read it. */
export function suffixOf({ algorithm }: Limit): string {
  return TWINS[algorithm]!.suffix;
}

/**
 * A limit as the scripts read it: its algorithm, 1 if it counts rejected attempts, how many numbers it has, the numbers.
 *
 * @throws TypeError for a limit of an algorithm that there is no script for.
 */
export function ruleOf(limit: Limit): readonly (string | number)[] {
  const { algorithm, countRejected } = limit;
  if (!Object.hasOwn(TWINS, algorithm)) {
    const known = NAMES.map((name) => `\`${name}\``).join(', ');
    const message = `RedisStore has no script for the algorithm \`${algorithm}\`; it knows ${known}`;
    throw withCode('ERR_ROLLGATE_UNSUPPORTED_ALGORITHM', new TypeError(message));
  }
  const numbers = TWINS[algorithm]!.numbers(limit as never);
  return [algorithm, countRejected ? 1 : 0, numbers.length, ...numbers];
}

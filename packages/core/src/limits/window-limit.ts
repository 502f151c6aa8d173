import { type Duration, parseDuration, parseInterval } from '../validation/duration.js';
import { invalidOption, validateBoolean, validateOptionNames, validateQuota } from '../validation/validate.js';
import { type BlockForOption, parseBlockFor } from './key-block.js';
import type { Limit } from './limit.js';
import type { MinDifferenceOption } from './min-difference.js';

/** The option of all limits that need not reject. */
export interface EnforceOption {
  /**
   * Whether the limit rejects. With `false`, it only counts what the other limits allow, and `exceeded` of a decision names it when it
   * would have rejected the action. Its counts stay when you enforce it.
   *
   * @defaultValue `true`
   */
  enforce?: boolean | undefined;
}

/**
 * Returns whether a limit with these options rejects.
 *
 * @throws TypeError if one that never rejects closes keys after rejections.
 */
export function parseEnforce({ enforce = true, blockFor }: EnforceOption & BlockForOption): boolean {
  if (validateBoolean('enforce', enforce) || blockFor === undefined) return enforce;
  throw invalidOption('blockFor', 'no value with `enforce: false`', blockFor);
}

/** The options of all limits that extend {@link WindowLimit}. */
export interface SharedOptions extends MinDifferenceOption, BlockForOption, EnforceOption {}

/** Their names, in the order in which errors list them. */
export const SHARED_OPTIONS = ['minDifference', 'blockFor', 'enforce'] as const;

/** What a limit reads from options of its own. */
interface Window {
  readonly limit: number;
  readonly windowMicros: number;
}

/** Reads the options `limit` and `window`. */
export function parseWindow(
  factory: string,
  options: { readonly limit: number; readonly window: Duration },
  names: readonly string[] = ['limit', 'window', ...SHARED_OPTIONS],
): Window {
  validateOptionNames(factory, options, names);
  return {
    limit: validateQuota('limit', options.limit),
    windowMicros: parseInterval('window', options.window) * 1000,
  };
}

/** What the limits of units per time have in common. Each freezes itself. */
export abstract class WindowLimit<Algorithm extends string> {
  /** As in {@link Limit}. */
  readonly limit: number;
  /** As in {@link Limit}. */
  readonly windowMicros: number;
  /** 0 if the limit has no `minDifference`. */
  readonly minDifferenceMicros: number;
  /** As in {@link Limit}. */
  readonly enforced: boolean;
  /** As in {@link Limit}. */
  readonly keepMicros: number;
  /** As in {@link Limit}. */
  readonly blockFor: Limit | undefined;

  /**
   * @param window No spread of another object, because that would box the numbers, which each check reads.
   * @param spanMicros How long a hit matters. A `minDifference` may be longer.
   */
  constructor(
    /** As in {@link Limit}. */
    readonly algorithm: Algorithm,
    { limit, windowMicros }: Window,
    options: SharedOptions,
    spanMicros = windowMicros,
    /** As in {@link Limit}. */
    readonly countRejected = false,
  ) {
    this.limit = limit;
    this.windowMicros = windowMicros;
    const { minDifference } = options;
    this.minDifferenceMicros = minDifference === undefined ? 0 : parseDuration('minDifference', minDifference) * 1000;
    this.enforced = parseEnforce(options);
    this.keepMicros = Math.max(spanMicros, this.minDifferenceMicros);
    this.blockFor = parseBlockFor(options.blockFor);
  }
}

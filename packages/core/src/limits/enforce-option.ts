import { invalidOption, validateBoolean } from '../validation/validate.js';
import type { BlockForOption } from './key-block.js';

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

import { type Duration, parseDuration } from '../validation/duration.js';
import { type Limit, type Mode, records, type State, type Verdict } from './limit.js';

/** The option of all limits with a quota that close a key once it is used up. */
export interface BlockForOption {
  /**
   * For how long a key is closed after a rejection because too few units are free, in milliseconds or as text such as `'15m'`, or
   * `Infinity`. A rejection while it is closed does not prolong the block, and `reset` of a limiter with this option opens the key.
   *
   * @defaultValue no block
   */
  blockFor?: Duration | undefined;
}

// The numbers of the state.
/** When the key opens. */
const END = 0;
/** The longest block of this life of the key. A key that is closed for more than twice as long has the end of a wrong clock. */
const LONGEST = 1;

/** The end and the length of a block without an end. The numbers of a state are finite, and no time is as late. */
export const FOREVER = Number.MAX_SAFE_INTEGER;

/** A time until which a key is closed. The longest of several blocks decides. Immutable. */
export class KeyBlock implements Limit {
  readonly algorithm = 'block';
  /** `Infinity`, because a block has no quota. */
  readonly limit: number = Infinity;
  readonly countRejected = false;
  readonly stateSize = 2;
  /** For how long a record closes the key. 0 for a limit that closes none. */
  readonly windowMicros: number;
  readonly keepMicros: number;
  readonly testsOnly: boolean;

  constructor(lengthMicros: number, testsOnly: boolean) {
    this.windowMicros = this.keepMicros = lengthMicros;
    this.testsOnly = testsOnly;
    Object.freeze(this);
  }

  create({ numbers, start }: State): void {
    numbers[start + END] = -Infinity;
    numbers[start + LONGEST] = 0;
  }

  expiresMicros({ numbers, start }: State): number {
    return toTime(numbers[start + END]!);
  }

  isPlausible({ numbers, start }: State, nowMicros: number): boolean {
    return numbers[start + END]! - nowMicros <= 2 * numbers[start + LONGEST]!; // Always, without an end.
  }

  describe({ numbers, start }: State): unknown {
    return numbers.slice(start, start + this.stateSize);
  }

  apply({ numbers, start }: State, nowMicros: number, _cost: number, verdict: Verdict, mode: Mode): void {
    if (records(mode, Math.max(0, numbers[start + END]! - nowMicros))) {
      const length = this.windowMicros;
      numbers[start + END] = Math.max(numbers[start + END]!, length === FOREVER ? FOREVER : nowMicros + length);
      numbers[start + LONGEST] = Math.max(numbers[start + LONGEST]!, length);
    }
    const endMicros = toTime(numbers[start + END]!);
    const leftMicros = Math.max(0, endMicros - nowMicros);
    verdict.reason = 'blocked';
    verdict.delayMicros = 0;
    verdict.atMicros = nowMicros;
    verdict.remaining = leftMicros > 0 ? 0 : Infinity;
    verdict.waitMicros = verdict.resetMicros = verdict.nextUnitMicros = leftMicros; // What it records is a rejection.
    verdict.expiresMicros = endMicros;
  }

  /** Does nothing, because only a reset opens a key. */
  refund(): void {}
}

function toTime(end: number): number {
  return end === FOREVER ? Infinity : end;
}

/** Returns what closes the keys of a limit with this option. */
export function parseBlockFor(blockFor: Duration | undefined): Limit | undefined {
  return blockFor === undefined ? undefined : new KeyBlock(parseBlockLength('blockFor', blockFor), true);
}

/** Returns the length of a block in microseconds. */
export function parseBlockLength(option: string, duration: unknown): number {
  return duration === Infinity ? FOREVER : parseDuration(option, duration, ', or Infinity') * 1000;
}

import { hasQuota } from '@rollgate/core/store';
import { type Figures, REJECTED } from './check-result.js';

/** What the letters of a plain window that recorded an action mean. */
export function toPlainFigures(both: number, limit: number, windowMicros: number): Figures {
  const remaining = both % (limit + 1);
  return { delay: 0, wait: 0, remaining, reset: windowMicros, nextUnit: (both - remaining) / (limit + 1), ahead: 0 };
}

/** What the numbers of a rule, and the one in letters, mean, as `lua/program/main.lua` describes them. */
export function toFigures(
  numbers: readonly number[],
  windowMicros: number,
  letters: number | undefined,
): Figures | undefined {
  const [first, second, third, fourth, last] = numbers as [number, number, number, number, number];
  const plain = { delay: 0, wait: 0, remaining: first, ahead: 0 };
  switch (numbers.length) {
    case 1:
      return letters === undefined ? undefined : { ...plain, reset: windowMicros, nextUnit: letters };
    case 2:
      if (first < 0 && letters === undefined)
        return { ...plain, delay: REJECTED, wait: -first, remaining: 0, reset: second, nextUnit: -first };
      return { ...plain, reset: orInfinity(second), nextUnit: letters ?? orInfinity(second) };
    case 3:
      return { ...plain, reset: second, nextUnit: letters ?? second, ahead: third };
    case 5:
      return {
        delay: first,
        wait: orInfinity(second),
        remaining: third,
        reset: orInfinity(fourth),
        nextUnit: letters ?? orInfinity(last),
        ahead: last,
      };
    case 7: {
      const [spent, reserved] = numbers.slice(5) as [number, number];
      return {
        delay: first,
        wait: orInfinity(second),
        remaining: third,
        reset: fourth,
        nextUnit: last,
        ahead: last,
        spent,
        reserved,
      };
    }
    default:
      return undefined;
  }
}

/** Only a block, which has no quota, can last forever. */
export function isPossible({ remaining, reset, nextUnit }: Figures, limit: number): boolean {
  return remaining >= 0 && nextUnit >= 0 && nextUnit <= reset && (reset !== Infinity || !hasQuota({ limit }));
}

function orInfinity(micros: number): number {
  return micros === -1 ? Infinity : micros;
}

import type { Limit, RollingWindow } from '@rollgate/core';

/** The numbers of a limit in the order in which the `rule` of its script takes them, by the name of its algorithm. */
const NUMBERS: Readonly<Record<string, (limit: never) => readonly number[]>> = {
  'rolling-window': ({ limit, windowMicros, minDifferenceMicros }: RollingWindow) => [
    limit,
    windowMicros,
    minDifferenceMicros,
  ],
};

/** The algorithms that there are scripts for: `lua/<name>.lua`. */
export const ALGORITHMS = Object.keys(NUMBERS);

/**
 * A limit as the scripts read it: its algorithm, 1 if it counts rejected attempts, how many numbers it has, the numbers.
 *
 * @throws TypeError for a limit of an algorithm that there is no script for.
 */
export function ruleOf(limit: Limit): readonly (string | number)[] {
  const { algorithm, countRejected } = limit;
  if (!Object.hasOwn(NUMBERS, algorithm)) {
    throw new TypeError(
      `RedisStore has no script for the algorithm \`${algorithm}\`; it knows ${ALGORITHMS.map((name) => `\`${name}\``).join(', ')}`,
    );
  }
  const numbers = NUMBERS[algorithm]!(limit as never);
  return [algorithm, countRejected ? 1 : 0, numbers.length, ...numbers];
}

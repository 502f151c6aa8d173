import { assertGuarantee } from '../../../store-conformance/src/algorithms.js';
import type { OracleState } from './oracle-state.js';
import type { ExploredLimit } from './scenario.js';

/**
 * Returns the guarantee that an allowed check or peek breaks, given the states before and after it. These guarantees do
 * not depend on the oracles, which may share a defect with the limits:
 *
 * - A limit whose keys no other settings use admits no more than `guarantees.ts` derives from its definition.
 * - While the store keeps a key, two actions of a limit with `minDifference` are that far apart. This holds whatever
 *   other limits do with the key in between.
 */
export function findBrokenGuarantee(
  before: OracleState,
  after: OracleState,
  limits: readonly ExploredLimit[],
): string | undefined {
  for (const one of limits) {
    const { name, stateIndex, scenarioLimit } = one;
    const { spec, minDifferenceMicros } = scenarioLimit;
    if (minDifferenceMicros > 0 && spec.enforce !== false) {
      const since = before.microsSinceNewest(one);
      const gap = `with a \`minDifference\` of ${minDifferenceMicros} µs`;
      if (since < minDifferenceMicros) return `limit \`${name}\` allows ${since} µs after its last action, ${gap}`;
    }
    const admitted = after.admitted[stateIndex]!;
    if (admitted === before.admitted[stateIndex]) continue;
    try {
      assertGuarantee(spec, admitted);
    } catch (error) {
      return `limit \`${name}\` breaks its guarantee: ${(error as Error).message}`;
    }
  }
  return undefined;
}

import { recordOverdrafts } from '../engine/decide.js';
import type { RecordedHit } from '../engine/recorded-hit.js';
import type { Settlement } from '../engine/reserving-limit.js';
import type { State } from '../limits/limit.js';

/**
 * Settles what a check has reserved.
 *
 * @param settleIn Settles it in the life of the key that has the reservation. Returns the units that are still to be recorded.
 */
export function settleReservation(
  { rule, key, life, cost: reserved, isSpent }: RecordedHit,
  settled: number,
  settleIn: (state: State, nowMicros: number) => number,
): Settlement {
  return {
    rule,
    key,
    run(states) {
      const state = states.find(rule, key);
      const isGone = reserved === 0 || state?.life !== life;
      const units = isGone ? settled - (isSpent ? reserved : 0) : settleIn(state, states.nowMicros);
      if (!isGone) states.save(state, rule.limit);
      if (units > 0) recordOverdrafts(states, [{ rule, key, units }]);
    },
  };
}

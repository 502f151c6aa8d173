import { isPeriodic, type Usage } from '../limits/capabilities.js';
import type { Limit } from '../limits/limit.js';
import type { LimitDecision } from './decision.js';

/**
 * Adds to a new result of a limit how its used units divide, and the period of a calendar in which they count.
 *
 * @param nowMicros The time at which the limit decided, since the epoch.
 */
export function addUsage<Result extends LimitDecision>(
  result: Result,
  limit: Limit,
  { spent, reserved }: Usage,
  nowMicros: number,
): Result {
  Object.assign(result, { spent, reserved });
  if (!isPeriodic(limit)) return result;
  const { startMicros, endMicros } = limit.periodAt(nowMicros);
  // Another calendar may have recorded the units, so that they count until the end of its period.
  const resetMicros = nowMicros + Math.round(result.resetMs * 1000);
  const endsMicros = spent + reserved > 0 ? resetMicros : endMicros;
  return Object.assign(result, { periodStartsAt: startMicros / 1000, periodEndsAt: endsMicros / 1000 });
}

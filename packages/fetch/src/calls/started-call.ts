import type { Decision } from '@rollgate/core';
import type { CallPlan } from './call-planner.js';

/** A call that has started. */
export interface StartedCall {
  readonly plan: CallPlan;
  readonly attempt: number;
  readonly waitedMs: number;
  /** When it started, by the clock of the calls. */
  readonly sentMs: number;
  readonly decision: Decision;
}

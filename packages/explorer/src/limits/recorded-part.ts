import type { Admission } from '../../../store-conformance/src/algorithms/admissions.js';
import type { ScenarioLimit } from './scenario.js';

/** What one limit recorded of a check. */
export interface Part {
  readonly scenarioLimit: ScenarioLimit;
  readonly stateIndex: number;
  readonly life: number;
  readonly receipt: unknown;
  readonly cost: number;
  /** The time of the check. */
  readonly at: number;
  /** Its entry in `OracleState.admitted`, if it has one. */
  readonly admission: Admission | undefined;
}

/** Whether the limit takes slots, which a release frees. */
export function hasSlots({ scenarioLimit }: Pick<Part, 'scenarioLimit'>): boolean {
  return scenarioLimit.oracle.retryAfterMicros !== undefined;
}

/** Whether the limit reserves units, which a release spends. */
export function reservesUnits({ scenarioLimit }: Pick<Part, 'scenarioLimit'>): boolean {
  return scenarioLimit.oracle.reserving !== undefined;
}

/** Whether a settlement changes the state even in a later life of the key. */
export function reports({ scenarioLimit }: Pick<Part, 'scenarioLimit'>): boolean {
  return scenarioLimit.oracle.reserving?.report !== undefined;
}

/** Whether a check of the limit takes leases. */
export function hasLease(part: Pick<Part, 'scenarioLimit'>): boolean {
  return hasSlots(part) || reservesUnits(part);
}

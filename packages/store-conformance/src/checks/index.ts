import { worstBurstRequirements } from './attained-bursts.js';
import { blocks } from './blocks.js';
import { changingSettings } from './changing-settings.js';
import { type Check, type CheckOptions, checkAlgorithms, type MakeStore, toCheck } from './check.js';
import { clockSteps } from './clock-steps.js';
import { constantLimits } from './constant-limits.js';
import { decisions } from './decisions.js';
import { impairedStorage } from './impaired-storage.js';
import { separateKeys } from './keys.js';
import { listedKeys } from './listed-keys.js';
import { longRunRequirements } from './long-run.js';
import { parallelChanges } from './parallel-changes.js';
import { parallelChecks } from './parallel-checks.js';
import { rollingCounter } from './rolling-counter.js';
import { safety } from './safety.js';
import { sharing } from './shared-data.js';
import { vectorRequirements } from './vectors.js';

const requirements = [
  ...vectorRequirements,
  ...decisions,
  ...changingSettings,
  ...safety,
  ...worstBurstRequirements,
  ...longRunRequirements,
  ...parallelChecks,
  ...parallelChanges,
  ...separateKeys,
  ...listedKeys,
  ...blocks,
  ...constantLimits,
  ...clockSteps,
  ...sharing,
  ...rollingCounter,
  ...impairedStorage,
];

/** Returns all checks as functions for any test runner. `describeStore` registers them with Jest or Vitest. */
export function checks(makeStore: MakeStore, options: CheckOptions = {}): Check[] {
  checkAlgorithms(options);
  return requirements.map((requirement) => toCheck(requirement, makeStore, options));
}

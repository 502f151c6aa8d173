import { changingNumbers } from './changing-numbers.js';
import { type Check, type CheckOptions, checkAlgorithms, type MakeStore, toCheck } from './check.js';
import { clockSteps } from './clock-steps.js';
import { concurrency } from './concurrency.js';
import { decisions } from './decisions.js';
import { longRunDemands } from './long-run.js';
import { rollingCounter } from './rolling-counter.js';
import { safety } from './safety.js';
import { sharing } from './sharing.js';
import { vectorDemands } from './vectors.js';
import { worstBurstDemands } from './worst-bursts.js';

const demands = [
  ...vectorDemands,
  ...decisions,
  ...changingNumbers,
  ...safety,
  ...worstBurstDemands,
  ...longRunDemands,
  ...concurrency,
  ...clockSteps,
  ...sharing,
  ...rollingCounter,
];

/** All that a store has to hold, as functions to be run by any tool; `describeStore` gives them to Jest or Vitest. */
export function checks(makeStore: MakeStore, options: CheckOptions = {}): Check[] {
  checkAlgorithms(options);
  return demands.map((demand) => toCheck(demand, makeStore, options));
}

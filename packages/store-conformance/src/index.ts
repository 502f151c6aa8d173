export {
  type AlgorithmName,
  type LimitSpec,
  type Vector,
  vectors,
  type WorstBurst,
  worstBursts,
} from './algorithms.js';
export type { Check, CheckOptions, MakeStore } from './checks/check.js';
export { checks } from './checks/index.js';
export { describeStore } from './describe-store.js';
export { type Fault, verifyFault } from './faults.js';
export type { VectorDetails, VectorStep, VectorVerdict } from './vector.js';

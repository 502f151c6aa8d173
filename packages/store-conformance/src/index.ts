export type { AlgorithmName, LimitSpec } from './algorithms.js';
export type { Check, CheckOptions, MakeStore } from './checks/check.js';
export { checks } from './checks/index.js';
export { describeStore } from './describe-store.js';
export { vectors } from './vectors/index.js';
export type { Vector, VectorAction, VectorStep, VectorVerdict } from './vectors/vector.js';
export { type WorstBurst, worstBursts } from './worst-bursts.js';

import { ACCESS_LOG_VECTORS } from './access-log-vectors';
import { FIELD_VECTORS } from './field-vectors';
import { PROBLEM_VECTORS } from './problem-vectors';
import type { Vector } from './vector';
import { WRAPPER_VECTORS } from './wrapper-vectors';

export const VECTORS: readonly Vector[] = [...ACCESS_LOG_VECTORS, ...FIELD_VECTORS, ...WRAPPER_VECTORS];
export { PROBLEM_VECTORS };

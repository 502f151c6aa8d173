import type { StoreGuard } from '../store/store.js';
import { invalidOption } from '../validation/validate.js';

// The counterpart of `default-guard.ts`. An app that keeps its limits in memory does not contain the guard.

/** @throws TypeError, because a store that may fail has to bring its guard. */
export const defaultGuard: StoreGuard = (store) => {
  throw invalidOption('store.guard', 'guardStore', store.guard);
};

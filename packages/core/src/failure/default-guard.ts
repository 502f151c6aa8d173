// In Node, every store has a guard. `default-guard.neutral.ts` is its counterpart in the build for other platforms.
export { guardStore as defaultGuard } from './guarded-store.js';

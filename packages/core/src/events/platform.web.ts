import type * as node from './platform.js';

/** Other platforms have no `NODE_DEBUG`. */
export const logDecisions: typeof node.logDecisions = () => {};

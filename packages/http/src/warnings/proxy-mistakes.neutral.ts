import type * as node from './proxy-mistakes.js';

// The counterpart of `proxy-mistakes.ts` in the build for bundles, which must be small.

/** Returns nothing. Only frameworks for Node resolve the client's address. Elsewhere, the app's own function returns it. */
export const findProxyMistake: typeof node.findProxyMistake = () => undefined;

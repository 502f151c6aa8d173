import type * as node from './warning-texts.js';

// The counterpart of `warning-texts.ts` in the build for bundles, which must be small.

const PAGE = 'https://rollgate-js.github.io/rollgate/warnings#';

/** Returns the address of the page about the warning, and its detail. */
export const describeWarning: typeof node.describeWarning = (code, detail) =>
  `See ${PAGE}${code.toLowerCase()}${detail ? ` (${detail})` : ''}`;

// The counterpart of `plain-window-check.ts` in the build for bundles, which must be small. There, the engine decides each check.

/** Never called, because no plan has a plain window there. */
export const checkPlainWindow = (): undefined => undefined;

// The counterpart of `plain-window-rules.ts` in the build for bundles, which must be small. There, the engine decides each check.

/** Has no plain windows. */
export class PlainWindowRules {
  /** Always `undefined`. */
  of(): undefined {
    return undefined;
  }
}

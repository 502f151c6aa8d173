// The counterpart of `option-suggestions.ts` in the build for bundles, which must be small.

/** Completes the message about an option that is not in `known`: lists the options. */
export function suggestOption(_name: string, known: readonly string[]): string {
  return `. The options are \`${known.join('`, `')}\``;
}

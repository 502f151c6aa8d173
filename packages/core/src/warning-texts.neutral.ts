// The counterpart of `warning-texts.ts` in the build for bundles. The page about warnings explains more.

export const describeFullStore = (maxKeys: number): string =>
  `A MemoryStore is full: it holds ${maxKeys} keys (\`maxKeys\`)`;

export const describeShortInterval = (option: string, ms: number): string =>
  `\`${option}: ${ms}\` is ${ms} milliseconds`;

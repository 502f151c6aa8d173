// The counterpart of `warning-texts.ts` in the build for bundles. The page about warnings explains more.

const PAGE = '. See https://rollgate-js.github.io/rollgate/warnings#rollgate_';

export const describeFullStore = (maxKeys: number): string =>
  `A MemoryStore is full: it holds ${maxKeys} keys (\`maxKeys\`)${PAGE}keys_evicted`;

export const describeShortInterval = (option: string, ms: number): string =>
  `\`${option}: ${ms}\` is ${ms} milliseconds${PAGE}short_interval`;

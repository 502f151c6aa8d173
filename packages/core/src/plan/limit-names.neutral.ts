import { formatValue } from '../validation/validate.js';

// The counterpart of `limit-names.ts` in the build for bundles, which must be small.

const NAME = /^[a-z0-9][\w.-]{0,63}$/i;

export const isLimitName = (name: string): boolean => NAME.test(name);

export const unknownLimitMessage = (option: string, name: string, names: readonly string[]): string =>
  `Unknown limit ${formatValue(name)} in \`${option}\`. The limits are ${names}`;

// The counterpart of `error-texts.ts` in the build for bundles, which must be small. The codes of the errors are the same.
import { formatValue } from '@rollgate/core/store';

export const missingAddressMessage = (): string =>
  "Cannot determine the client's IP address. Set the `address` option or the `key` option";

export const mixedLimitsMessage = (options: readonly string[]): string =>
  `Expected either \`limits\` or \`${options.join('`, `')}\`, got both`;

export const UNUSED_FUNCTION =
  'Expected `skipSuccessfulRequests` or `skipFailedRequests` with `requestWasSuccessful`, got neither';

export const unusedPartitionMessage = (headers: string): string =>
  `Expected \`headers: 'draft-12'\` with \`partition\`, got '${headers}'`;

export const functionTimeoutMessage = (name: string, timeoutMs: number): string =>
  `\`${name}\` did not settle within ${timeoutMs} ms (\`timeout\`)`;

export const notAnErrorMessage = (thrown: unknown): string => `Expected an error, got ${formatValue(thrown)}`;

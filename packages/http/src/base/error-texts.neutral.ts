// The counterpart of `error-texts.ts` in the build for bundles, which must be small. The codes of the errors are the same.
import { formatValue } from '@rollgate/core/store';

export const missingAddressMessage = (): string => "Cannot determine the client's IP address. Set `address` or `key`";

export const mixedLimitsMessage = (options: readonly string[]): string =>
  `Expected either \`limits\` or \`${options.join('`, `')}\``;

export const UNUSED_FUNCTION = 'Expected `skipSuccessfulRequests` or `skipFailedRequests` with `requestWasSuccessful`';

export const unusedPartitionMessage = (): string => "Expected `headers: 'draft-12'` with `partition`";

export const functionTimeoutMessage = (name: string, timeoutMs: number): string =>
  `\`${name}\` took longer than ${timeoutMs} ms (\`timeout\`)`;

export const notAnErrorMessage = (thrown: unknown): string => `Expected an error, got ${formatValue(thrown)}`;

export const LIMITS = 'a limit or a record of limits';

export const NO_ADDRESS = 'Expected `address` or `key`. An `allowList` needs `address`';

export const PARTITION = 'an array';

export const DIMENSIONS = PARTITION;

export const DIMENSION_NAME = 'a name';

export const MESSAGE = 'a string, an object or a function';

export const ALLOW_LIST = 'an array';

export const NETWORK = 'an address or a network';

export const notJsonMessage = (name: string): string => `Expected \`${name}\` to be JSON`;

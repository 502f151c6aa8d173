import { formatValue } from '@rollgate/core/store';

/** The message for a request without an address. `ownOptions` are the options that only its host has. */
export function missingAddressMessage(ownOptions: readonly string[]): string {
  const advice = ownOptions.includes('address')
    ? 'Set the `address` option to a function that returns it on your platform, or the `key` option'
    : 'Is the server listening on a Unix socket? Set the `key` option';
  return `Cannot determine the client's IP address. ${advice} to identify clients another way`;
}

/** The message for `limits` together with options of one rolling window. */
export const mixedLimitsMessage = (options: readonly string[]): string =>
  `Expected either \`limits\` or the settings of one rolling window, got \`limits\` and \`${options.join('`, `')}\`. Remove one of them`;

/** The message for `requestWasSuccessful` without an option that uses it. */
export const UNUSED_FUNCTION =
  'Expected `skipSuccessfulRequests` or `skipFailedRequests` with `requestWasSuccessful`, got neither. It has no effect alone';

/** The message for `partition` with these headers, which do not include it. */
export const unusedPartitionMessage = (headers: string): string =>
  `Expected \`headers: 'draft-12'\` with \`partition\`, got '${headers}'. It has no effect alone`;

/** The message for a function whose promise takes longer than the timeout. */
export const functionTimeoutMessage = (name: string, timeoutMs: number): string =>
  `\`${name}\` did not settle within ${timeoutMs} ms. Make it faster or raise \`timeout\``;

/** The message for a value other than an error that was thrown. */
export const notAnErrorMessage = (thrown: unknown): string =>
  `Expected option functions and stores to throw errors, got ${formatValue(thrown)}. Throw an \`Error\` instead`;

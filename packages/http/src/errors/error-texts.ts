import { formatValue } from '@rollgate/core/store';

/** The message for a request without an address. `ownOptions` are the options that only its host has. */
export function missingAddressMessage(ownOptions: readonly string[]): string {
  const advice = ownOptions.includes('address')
    ? 'Set the `address` option to a function that returns it on your platform, or the `key` option'
    : 'Is the server listening on a Unix socket? Set the `key` option';
  return `Cannot determine the client's IP address. ${advice} to identify clients another way`;
}

/** The message for `requestWasSuccessful` without an option that uses it. */
export const UNUSED_FUNCTION =
  'Expected `skipSuccessfulRequests` or `skipFailedRequests` with `requestWasSuccessful`, got neither. It has no effect alone';

/** The message for a function whose promise takes longer than the timeout. */
export const functionTimeoutMessage = (name: string, timeoutMs: number): string =>
  `\`${name}\` did not settle within ${timeoutMs} ms. Make it faster or raise \`timeout\``;

/** The message for a value other than an error that was thrown. */
export const notAnErrorMessage = (thrown: unknown): string =>
  `Expected option functions and stores to throw errors, got ${formatValue(thrown)}. Throw an \`Error\` instead`;

/** What `limits` should be. */
export const LIMITS = "a limit such as '100/1m' or `rollingWindow({ … })`, or a record of at least one";

/** The message for a host that needs the address without a function that returns it. */
export const NO_ADDRESS =
  'Expected `address` or `key`, got neither. Choose the function of your platform, such as `denoAddress`. An `allowList` needs it, too';

/** What `message` should be. */
export const MESSAGE = 'a string, an object or a function that returns one';

/** What `allowList` should be. */
export const ALLOW_LIST = 'an array of addresses and networks';

/** What an entry of `allowList` should be. */
export const NETWORK = "an IP address or a network such as '10.0.0.0/8'";

/** The message for a value that JSON cannot represent. */
export const notJsonMessage = (name: string, cause: unknown): string =>
  `Expected \`${name}\` to be an object that JSON can represent, got ${String(cause)}`;

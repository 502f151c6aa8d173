import { UsageError } from '../errors.js';

/** Who logs in to a store. Both are empty for a URL without them, and for a file. */
export interface Credentials {
  readonly username: string;
  readonly password: string;
  /** All texts that no message may contain. */
  readonly secrets: readonly string[];
}

/**
 * Reads the credentials of a URL, which may have the password in front of the host or as the parameter `password`.
 *
 * @throws UsageError if they are no percent-encoded text, which no driver accepts. Its message contains no part of them.
 */
export function readCredentials(address: string): Credentials {
  // Only these characters can stand before or in a password. Other addresses help to see what is wrong with them.
  const whole = /[@?=]/.test(address) ? [address] : [];
  if (!URL.canParse(address)) return { username: '', password: '', secrets: whole };
  const url = new URL(address);
  const password = decode(url.password);
  const parameters = url.searchParams.getAll('password');
  const given = [url.password, password, ...parameters, ...parameters.map(encodeURIComponent)];
  return { username: decode(url.username), password, secrets: [...whole, ...given.filter((one) => one !== '')] };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new UsageError(
      'Expected the user and the password of the URL to be percent-encoded, got a `%` without two digits after it. Write `%25` for it',
    );
  }
}

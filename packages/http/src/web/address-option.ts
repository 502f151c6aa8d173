import { validateOptionalFunction } from '@rollgate/core/store';
import { NO_ADDRESS } from '../errors/error-texts.js';
import { optionError } from '../errors/errors.js';

/** The options that determine whether a limiter needs the client's address. */
interface AddressOptions {
  readonly address?: unknown;
  readonly key?: unknown;
  readonly allowList?: readonly string[] | false | undefined;
}

/** @throws TypeError if `address` is not a function, or if it is absent although the limiter needs the address. */
export function validateAddressOption({ address, key, allowList }: AddressOptions): void {
  validateOptionalFunction('address', address);
  if (address !== undefined || (key !== undefined && !allowList)) return;
  throw optionError(NO_ADDRESS);
}

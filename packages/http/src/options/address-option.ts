import type { Limits } from '@rollgate/core';
import { validateOptionalFunction } from '@rollgate/core/store';
import type { Host } from '../host/host.js';
import type { HttpOptions } from './options.js';

/** The option `address` of adapters that have it. */
interface AddressOption<Request> {
  readonly address?: (request: Request) => string | undefined;
}

/**
 * Returns a host whose requests have the addresses that the option `address` returns, so that its own settings do not matter. It is
 * the same one without the option, which only hosts have that list it in `ownOptions`.
 *
 * @throws TypeError if `address` is not a function.
 */
export function withAddress<Request, Response, Target>(
  host: Host<Request, Response, Target>,
  options: HttpOptions<Request, Limits, Response> & AddressOption<Request>,
): Host<Request, Response, Target> {
  const { address } = options;
  if (address === undefined) return host;
  validateOptionalFunction('address', address);
  return { ...host, getClientAddress: address, findProxyMistake: () => undefined };
}

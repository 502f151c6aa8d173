import { invalidOption, withCode } from '@rollgate/core/store';
import type { Connection, RequestReader } from '../host/host.js';
import { createClientKey } from './client-key.js';

/** Thrown for a request without an address whose client has already disconnected. The gate catches it. */
export const CLIENT_DISCONNECTED = Symbol('the client has disconnected');

/** Returns the address of a request's client, if it has one. */
export function readAddress<Request>(reader: RequestReader<Request>, request: Request): string | undefined {
  const address = reader.getClientAddress(request);
  // Only the option `address` may return something else, for example a promise.
  if (address && typeof address !== 'string') throw invalidOption('address(request)', 'a string', address);
  return address;
}

/**
 * Creates the function that returns the key of a request by its client's address.
 *
 * @returns A function that throws an error without an address, or {@link CLIENT_DISCONNECTED}.
 */
export function createAddressKey<Request>(
  reader: RequestReader<Request>,
  ipv6Prefix: number,
): (request: Request) => string {
  const toClientKey = createClientKey(ipv6Prefix);
  return function addressKey(request) {
    const address: unknown = reader.getClientAddress(request);
    if (typeof address === 'string' && address !== '') return toClientKey(address);
    readAddress(reader, request);
    if (reader.isDisconnected(request)) throw CLIENT_DISCONNECTED;
    const advice = reader.ownOptions.includes('address')
      ? 'Set the `address` option to a function that returns it on your platform, or the `key` option'
      : 'Is the server listening on a Unix socket? Set the `key` option';
    const message = `Cannot determine the client's IP address. ${advice} to identify clients another way`;
    throw withCode('ERR_ROLLGATE_NO_CLIENT_ADDRESS', new Error(message));
  };
}

/** What the requests of frameworks read of Node's in order to find the address of the client. */
export interface NodeProbe {
  /** The socket of the request. */
  readonly socket: object;
  /** The socket again, by the older name that some frameworks read. */
  readonly connection: object;
  /** The headers of the request. */
  readonly headers: object;
}

/**
 * Returns the connection of a request whose framework finds the address of the client by the getter `ip` of its requests.
 *
 * @param peer The address of the other end.
 * @param toOwn Returns what the getter reads of a request, apart from the prototype's own properties, over this request of Node.
 */
export function connectionOf(
  request: object,
  peer: string | undefined,
  toOwn: (probe: NodeProbe) => object,
): Connection {
  const prototype: object = Object.getPrototypeOf(request);
  return {
    peer,
    resolve(remoteAddress, forwardedFor) {
      const socket = { remoteAddress };
      const own = toOwn({ socket, connection: socket, headers: { 'x-forwarded-for': forwardedFor } });
      const probe: { readonly ip?: string } = Object.create(prototype, Object.getOwnPropertyDescriptors(own));
      return probe.ip;
    },
  };
}

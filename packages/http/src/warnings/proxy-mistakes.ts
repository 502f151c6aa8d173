import { readAddress } from '../client/client-address.js';
import type { RequestReader } from '../host/host.js';
import type { WarningCode } from './warning-codes.js';

/** More proxies than any app has in front of it. Their addresses are reserved for documentation (RFC 5737). */
const UNKNOWN_PROXIES = Array.from({ length: 40 }, (_, index) => `203.0.113.${index + 1}`);

/**
 * Returns the code of the mistake that a request's headers show about the proxies in front of the app, if there is one. It asks
 * the host itself which address it resolves, because settings such as a number of hops mean different things to each version.
 */
export function findProxyMistake<Request>(reader: RequestReader<Request>, request: Request): WarningCode | undefined {
  const connection = reader.getConnection?.(request);
  if (connection === undefined) return undefined;
  const { peer, resolve = () => peer } = connection;
  const forwardedFor = reader.getRequestHeader(request, 'x-forwarded-for');
  const address = forwardedFor == null || peer === undefined ? peer : resolve(peer, String(forwardedFor));
  // Otherwise the app counts clients by an address that it has put on the request itself.
  if (readAddress(reader, request) !== address) return undefined;
  if (forwardedFor == null) {
    return reader.getRequestHeader(request, 'forwarded') == null ? undefined : 'ROLLGATE_UNREAD_FORWARDED';
  }
  const [first] = UNKNOWN_PROXIES;
  if (resolve('203.0.113.254', UNKNOWN_PROXIES.join(', ')) === first) return 'ROLLGATE_TRUSTS_EVERY_PROXY';
  return peer === undefined || resolve(peer, first!) === first ? undefined : 'ROLLGATE_UNTRUSTED_PROXY';
}

import { readAddress } from '../client/client-address.js';
import type { Connection, ProxyMistake, RequestReader } from '../host/host.js';

const TEXTS: Readonly<Record<ProxyMistake['code'], string>> = {
  ROLLGATE_UNTRUSTED_PROXY:
    'A request has the header X-Forwarded-For, but the app does not trust the address that it came from as a proxy. All clients behind that proxy then count as one. Configure the framework to trust the address of your proxy, or set the `key` option',
  ROLLGATE_TRUSTS_EVERY_PROXY:
    'The app trusts every proxy, so a client can forge its address with X-Forwarded-For and evade the limit. Configure the framework to trust only your proxy',
  ROLLGATE_UNREAD_FORWARDED:
    'A request has the header Forwarded but not X-Forwarded-For, and its client is identified by the address of the connection. All clients behind a proxy then count as one. Configure your proxy to send X-Forwarded-For, or set the `key` option',
};

/** More proxies than any app has in front of it. Their addresses are reserved for documentation (RFC 5737). */
const UNKNOWN_PROXIES = /* @__PURE__ */ Array.from({ length: 40 }, (_, index) => `203.0.113.${index + 1}`);

/**
 * Returns the mistake that a request's headers show about the proxies in front of the app, if there is one. It asks the host itself
 * which address it resolves, because settings such as a number of hops mean different things to each version.
 *
 * @param connection `undefined` if no setting of the host decides the address.
 */
export function findProxyMistake<Request>(
  reader: RequestReader<Request>,
  request: Request,
  connection: Connection | undefined,
): ProxyMistake | undefined {
  const code = connection && findCode(reader, request, connection);
  return code && { code, text: TEXTS[code] };
}

function findCode<Request>(
  reader: RequestReader<Request>,
  request: Request,
  { peer, resolve = () => peer }: Connection,
): ProxyMistake['code'] | undefined {
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

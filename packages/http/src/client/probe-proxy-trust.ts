import type { ProxyTrust } from '../base/host.js';

/** More proxies than any app has in front of it. Their addresses are reserved for documentation (RFC 5737). */
const UNKNOWN_PROXIES = Array.from({ length: 40 }, (_, index) => `203.0.113.${index + 1}`);

/** A request whose prototype resolves these addresses from its property `raw`. */
interface ResolvingRequest {
  readonly ip?: string | undefined;
  /** `undefined` if the app trusts no proxy. */
  readonly ips?: readonly string[] | undefined;
}

/**
 * Returns which proxies an app trusts, if its framework does not expose the setting. So this resolves the address of a request
 * that came through unknown proxies only: an app that trusts every proxy believes the first one.
 *
 * @param request A request of the app, whose prototype resolves `ip` and `ips` from its property `raw`.
 */
export function probeProxyTrust(request: ResolvingRequest): ProxyTrust {
  if (request.ips === undefined) return 'none';
  const raw = {
    socket: { remoteAddress: '203.0.113.254' },
    headers: { 'x-forwarded-for': UNKNOWN_PROXIES.join(', ') },
  };
  const probe: ResolvingRequest = Object.create(Object.getPrototypeOf(request), { raw: { value: raw } });
  return probe.ip === UNKNOWN_PROXIES[0] ? 'every' : 'some';
}

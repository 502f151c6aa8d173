import type { RequestReader } from '../base/host.js';
import type { WarningCode } from './warning-codes.js';

/** Returns the code of the mistake that a request's headers show about the proxies in front of the app, if there is one. */
export function findProxyMistake<Request>(reader: RequestReader<Request>, request: Request): WarningCode | undefined {
  if (reader.getRequestHeader(request, 'x-forwarded-for') != null) {
    const trust = reader.getProxyTrust(request);
    if (trust === 'none') return 'ROLLGATE_UNTRUSTED_PROXY';
    return trust === 'every' ? 'ROLLGATE_TRUSTS_EVERY_PROXY' : undefined;
  }
  if (reader.getRequestHeader(request, 'forwarded') == null || reader.getProxyTrust(request) === 'custom')
    return undefined;
  return 'ROLLGATE_UNREAD_FORWARDED';
}

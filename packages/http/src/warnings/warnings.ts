/**
 * The codes of the process warnings that the option `silence` accepts. Rollgate emits each once per process. See
 * docs/errors.md, which also describes the warnings that have no such option.
 */
export const WARNING_CODES = [
  'ROLLGATE_UNTRUSTED_PROXY',
  'ROLLGATE_TRUSTS_EVERY_PROXY',
  'ROLLGATE_UNREAD_FORWARDED',
  'ROLLGATE_SHARED_KEYS',
  'ROLLGATE_LIMITER_PER_REQUEST',
  'ROLLGATE_COUNTED_TWICE',
  'ROLLGATE_REQUEST_WAS_SUCCESSFUL_FAILED',
  'ROLLGATE_DRY_RUN_FAILED',
  'ROLLGATE_ON_EXCEEDED_FAILED',
  'ROLLGATE_IPV6_KEY',
] as const;
/** The code of a warning that the option `silence` accepts. */
export type WarningCode = (typeof WARNING_CODES)[number];

const TEXTS: Readonly<Record<WarningCode, string>> = {
  ROLLGATE_UNTRUSTED_PROXY:
    'A request has the header X-Forwarded-For, but the app does not trust the address that it came from as a proxy. All clients behind that proxy then count as one. Configure the framework to trust the address of your proxy, or set the `key` option',
  ROLLGATE_TRUSTS_EVERY_PROXY:
    'The app trusts every proxy, so a client can forge its address with X-Forwarded-For and evade the limit. Configure the framework to trust only your proxy',
  ROLLGATE_UNREAD_FORWARDED:
    'A request has the header Forwarded but not X-Forwarded-For, and its client is identified by the address of the connection. All clients behind a proxy then count as one. Configure your proxy to send X-Forwarded-For, or set the `key` option',
  ROLLGATE_SHARED_KEYS:
    "Two limiters on one store have the prefix '%s', so their limits of the same name and algorithm share their keys. Give each its own `prefix`",
  ROLLGATE_LIMITER_PER_REQUEST:
    '%s limiters were created while serving requests, and each was used once. Are you creating one inside a handler? A new limiter knows no earlier requests, unless it has a shared `store`. Create the limiter once at startup',
  ROLLGATE_COUNTED_TWICE:
    'The same limiter ran twice for one request, so the request was counted twice. Mount it once, or create a second limiter',
  ROLLGATE_REQUEST_WAS_SUCCESSFUL_FAILED: '`requestWasSuccessful` failed, so the request was not refunded: %s',
  ROLLGATE_DRY_RUN_FAILED: 'An option function or the store failed during a dry run, so the request continued: %s',
  ROLLGATE_ON_EXCEEDED_FAILED: '`onExceeded` failed: %s',
  ROLLGATE_IPV6_KEY:
    '`key` returned a full IPv6 address. One client commonly has billions of them and can use another one for each request. Return `clientKey()` instead, the last argument of `key`',
};

/** Returns the message of a warning. `detail` is what differs from case to case. */
export function describeWarning(code: WarningCode, detail = ''): string {
  return TEXTS[code].replace('%s', () => detail);
}

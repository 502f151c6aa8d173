import type { ProxyMistake } from '../host/host.js';

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

/** The codes but those of a {@link ProxyMistake}, which only some hosts can find. */
export type UsageWarningCode = Exclude<WarningCode, ProxyMistake['code']>;

const TEXTS: Readonly<Record<UsageWarningCode, string>> = {
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
export function describeWarning(code: UsageWarningCode, detail = ''): string {
  return TEXTS[code].replace('%s', () => detail);
}

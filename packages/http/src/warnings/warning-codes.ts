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
  'ROLLGATE_IPV6_KEY',
] as const;
/** The code of a warning that the option `silence` accepts. */
export type WarningCode = (typeof WARNING_CODES)[number];

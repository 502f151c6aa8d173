import { invalidOption } from '@rollgate/core/store';
import type { RetryOptions } from '../options/fetch-options.js';

/** Whether a call may be sent again, by its method and headers. */
export type MayRepeat = (method: string, hasIdempotencyKey: boolean) => boolean;

/** The methods that RFC 9110 defines as idempotent (section 9.2.2). */
const IDEMPOTENT = ['GET', 'HEAD', 'OPTIONS', 'TRACE', 'PUT', 'DELETE'];

/** @throws TypeError naming the option. */
export function createMayRepeat(methods: NonNullable<RetryOptions['methods']>): MayRepeat {
  if (methods === 'all') return () => true;
  if (methods === 'idempotent') return (method, hasKey) => hasKey || IDEMPOTENT.includes(method);
  if (!Array.isArray(methods) || methods.some((method) => typeof method !== 'string'))
    throw invalidOption('retry.methods', "'idempotent', 'all' or an array such as ['GET', 'POST']", methods);
  const names = methods.map((method) => method.toUpperCase());
  return (method) => names.includes(method);
}

import type { Store } from '@rollgate/core';
import { type RejectedKey, rejectedKeysOf } from '@rollgate/core/observe';
import { toPlainText } from '../report/escape-invisible.js';
import { formatInteger } from '../report/format-number.js';
import { toTable } from './live-table.js';

interface Wanted {
  readonly top: number;
  readonly limiter?: readonly string[];
  readonly prefix?: string;
}

/** The keys with the most rejections, of all processes. */
export async function findRejected(store: Store, { top, limiter, prefix = '' }: Wanted) {
  const found = await rejectedKeysOf(store, Number.MAX_SAFE_INTEGER);
  const isWanted = (one: RejectedKey) => (limiter?.includes(one.limiter) ?? true) && textOf(one).startsWith(prefix);
  return { rejected: found.filter(isWanted).slice(0, top) };
}

const textOf = ({ key }: RejectedKey) => (typeof key === 'string' ? key : JSON.stringify(key));

/** A key whose count may be too high gets the range of its count. */
export function describeRejected({ rejected }: Awaited<ReturnType<typeof findRejected>>): string {
  if (rejected.length === 0) {
    return 'No process has shared a rejection. Pass `store` to rejectedKeys() of @rollgate/core/observe in your app';
  }
  const cells = rejected.map((one) => [
    one.overcount === 0
      ? formatInteger(one.count)
      : `${formatInteger(one.count - one.overcount)}–${formatInteger(one.count)}`,
    toPlainText(one.limiter),
    toPlainText(one.violated.join(', ')),
    toPlainText(textOf(one), 80),
  ]);
  return toTable([['rejected', 'limiter', 'violated', 'key'], ...cells], [0]);
}

import { ipv4Key } from '../../subjects.js';
import { toFigure, whole } from '../../table.js';
import type { Library } from '../library.js';
import type { Probe } from '../probe.js';

/** How many other keys a limiter gets whose documentation states no bound. */
const MANY = 100_000;

export const keyFlood: Probe = {
  title: 'keys kept in memory',
  method: `Uses up the limit of one key, checks other keys up to the documented bound, and tests whether the first key is still rejected. Repeats this with one more key, after which the first key should have been evicted. Without a documented bound, checks ${whole(MANY)} other keys. If the first key is still rejected after them, the limiter keeps all keys, and a flood of keys can exhaust the memory. The table then contains "no bound".`,
  async run(library) {
    const { inMemory, keyBound, hasKeys } = library;
    if (inMemory === undefined || hasKeys === false) return undefined;
    if (keyBound === undefined) return (await isForgotten(library, MANY)) ? `at most ${whole(MANY)}` : 'no bound';
    if (await isForgotten(library, keyBound - 1)) return `fewer than ${whole(keyBound)}`;
    return (await isForgotten(library, keyBound)) ? toFigure(keyBound, whole) : `more than ${whole(keyBound)}`;
  },
};

async function isForgotten(library: Library, otherKeys: number): Promise<boolean> {
  const limiter = await library.inMemory!({ limit: 1, windowMs: 3_600_000 });
  const key = '192.0.2.1';
  await limiter.check(key);
  for (let other = 0; other < otherKeys; other++) await limiter.check(ipv4Key(other));
  return (await limiter.check(key)).allowed;
}

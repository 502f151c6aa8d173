import { ipv4Key } from '../../subjects.js';
import { toFigure, whole } from '../../table.js';
import type { Library } from '../library.js';
import type { Probe } from '../probe.js';

/** How many other keys a limiter gets whose documentation states no bound. */
const MANY = 100_000;

export const keyFlood: Probe = {
  title: 'keys kept in memory',
  method: `Rejects a key, and looks whether it is still rejected after so many other keys that the documented bound is reached, and after one more. Without a documented bound, there are ${whole(MANY)} other keys. A limiter that remembers the key then may fill the memory.`,
  async run(library) {
    const { inMemory, keyBound, hasKeys } = library;
    if (inMemory === undefined || hasKeys === false) return undefined;
    if (keyBound === undefined)
      return (await isForgotten(library, MANY)) ? `at most ${whole(MANY)}` : `all ${whole(MANY)}`;
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

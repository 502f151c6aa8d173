import type { AddressInfo } from 'node:net';
import { ipv4Key } from '../../subjects.js';
import { toFigure, whole } from '../../table.js';
import { FakeTime } from '../fake-time.js';
import type { Library } from '../library.js';
import { createTimed, type Probe } from '../probe.js';

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

const KEYS = 1000;

export const timers: Probe = {
  title: 'timers for 1,000 keys',
  method: `Checks ${whole(KEYS)} keys in memory, and counts the active timers. A limiter with one timer for each key needs memory for all of them.`,
  async run(library) {
    if (library.inMemory === undefined || library.hasKeys === false) return undefined;
    const time = FakeTime.start();
    const limiter = await library.inMemory({ limit: 10, windowMs: 60_000 });
    for (let key = 0; key < KEYS; key++) await limiter.check(ipv4Key(key));
    return toFigure(time.timerCount, whole);
  },
};

const ADDRESSES = 100;

export const ipv6Network: Probe = {
  title: 'allowed to an IPv6 network, limit 10',
  method: `Sends ${ADDRESSES} requests through a trusted proxy, each from a different address in one /64 network, which usually belongs to a single client. A limiter that counts the network as one client allows 10.`,
  async run(library) {
    if (library.serve === undefined) return undefined;
    const server = await library.serve({ limit: 10, windowMs: 60_000 });
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    let allowed = 0;
    for (let host = 1; host <= ADDRESSES; host++) {
      const { status } = await fetch(url, { headers: { 'x-forwarded-for': `2001:db8:1:2::${host.toString(16)}` } });
      if (status === 200) allowed += 1;
    }
    return toFigure(allowed, whole);
  },
};

export const oddKey: Probe = {
  title: 'limits the key `__proto__`',
  method: 'Checks the key `__proto__` three times, with a limit of two.',
  async run(library) {
    if (library.hasKeys === false) return undefined;
    const timed = await createTimed(library, { limit: 2, windowMs: 60_000 });
    if (timed === undefined) return undefined;
    try {
      const outcomes = [];
      for (let check = 0; check < 3; check++) outcomes.push((await timed.limiter.check('__proto__')).allowed);
      return String(outcomes) === 'true,true,false' ? 'yes' : 'no';
    } catch {
      return 'no, it throws';
    }
  },
};

const DAY_MS = 86_400_000;

export const longWindow: Probe = {
  title: 'enforces 1 in 30 days',
  method:
    'Allows one request in 30 days, and sends a second one after a minute. A limiter that resets its counter with a Node timer does so too early, because a timer of more than 24.8 days fires at once.',
  async run(library) {
    const timed = await createTimed(library, { limit: 1, windowMs: 30 * DAY_MS });
    if (timed === undefined) return undefined;
    await timed.limiter.check('192.0.2.1');
    timed.time.moveTo(60_000);
    return (await timed.limiter.check('192.0.2.1')).allowed ? 'no' : 'yes';
  },
};

export const invalidWindow: Probe = {
  title: 'a window of `NaN`',
  method:
    'Creates a limiter whose window is `NaN`, and checks a key. Reports "logged" if the library only logs the mistake.',
  async run(library) {
    let warnings = 0;
    for (const method of ['warn', 'error'] as const) {
      console[method] = () => {
        warnings += 1;
      };
    }
    try {
      const timed = await createTimed(library, { limit: 1, windowMs: Number.NaN });
      if (timed === undefined) return undefined;
      await timed.limiter.check('192.0.2.1');
    } catch {
      return 'error';
    }
    return warnings > 0 ? 'logged' : 'accepted';
  },
};

import { ipv4Key } from '../../subjects.js';
import { toFigure, whole } from '../../table.js';
import { FakeTime } from '../fake-time.js';
import type { Probe } from '../probe.js';

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

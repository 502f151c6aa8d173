import { toFigure, whole } from '../../table.js';
import { FakeTime } from '../fake-time.js';
import { countAllowed, type Probe } from '../probe.js';

const HOURLY = { limit: 10, windowMs: 3_600_000 };
const SECONDLY = { limit: 2, windowMs: 1000 };

export const twoLimits: Probe = {
  title: 'allowed with limits of 10 an hour and 2 a second',
  method:
    'Sends five requests at once, of which the limit of 2 a second rejects three. Then sends one every two seconds. Tries both orders of the limits, and reports the worse result. Fewer than ten are allowed if rejected requests also count toward the hourly limit.',
  async run({ combined }) {
    if (combined === undefined) return undefined;
    const time = FakeTime.start();
    const orders = [await combined(HOURLY, SECONDLY), await combined(SECONDLY, HOURLY)];
    const allowed = await Promise.all(orders.map((limiter) => countAllowed(limiter, '192.0.2.1', 5)));
    for (let request = 1; request <= 20; request++) {
      time.moveTo(2000 * request);
      for (const [order, limiter] of orders.entries()) allowed[order]! += await countAllowed(limiter, '192.0.2.1', 1);
    }
    return toFigure(Math.min(...allowed), whole);
  },
};

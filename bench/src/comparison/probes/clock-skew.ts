import { toFigure, whole } from '../../table.js';
import { FakeTime } from '../fake-time.js';
import { PrivateRedis } from '../private-redis.js';
import { countAllowed, type Probe } from '../probe.js';

const LIMIT = 10;
const WINDOW_MS = 60_000;

export const clockSkew: Probe = {
  title: 'allowed with a clock 2 minutes ahead, limit 10',
  method:
    'Sends 30 requests to each of two limiters that share one Redis. The clock of the second limiter is two minutes ahead, and the limit is 10 a minute. Limiters that count by their own clocks allow 20 requests in total.',
  async run({ inRedis }) {
    if (inRedis === undefined) return undefined;
    const redis = await PrivateRedis.start();
    const time = FakeTime.startWithoutTimers();
    const rule = { limit: LIMIT, windowMs: WINDOW_MS };
    const onTime = await countAllowed(await inRedis(rule, redis), '192.0.2.1', 3 * LIMIT);
    time.moveTo(2 * WINDOW_MS);
    const ahead = await countAllowed(await inRedis(rule, redis), '192.0.2.1', 3 * LIMIT);
    return toFigure(onTime + ahead, whole);
  },
};

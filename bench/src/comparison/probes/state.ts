import { setTimeout as sleep } from 'node:timers/promises';
import { toFigure, whole } from '../../table.js';
import { FakeTime } from '../fake-time.js';
import { PrivateRedis } from '../private-redis.js';
import { countAllowed, type Probe } from '../probe.js';

const LIMIT = 10;
const MINUTE_MS = 60_000;

export const clockSkew: Probe = {
  title: 'allowed with a clock 2 minutes ahead, limit 10',
  method:
    'Sends 30 requests to each of two limiters that share one Redis. The clock of the second limiter is two minutes ahead, and the limit is 10 a minute. Limiters that count by their own clocks allow 20 requests in total.',
  async run({ inRedis }) {
    if (inRedis === undefined) return undefined;
    const redis = await PrivateRedis.start();
    const time = FakeTime.startWithoutTimers();
    const rule = { limit: LIMIT, windowMs: MINUTE_MS };
    const onTime = await countAllowed(await inRedis(rule, redis), '192.0.2.1', 3 * LIMIT);
    time.moveTo(2 * MINUTE_MS);
    const ahead = await countAllowed(await inRedis(rule, redis), '192.0.2.1', 3 * LIMIT);
    return toFigure(onTime + ahead, whole);
  },
};

const REJECTED = 1000;

export const redisGrowth: Probe = {
  title: 'bytes per key after 1,000 rejections',
  method: `Sends ${whole(REJECTED)} requests beyond the limit of 10 for one key, and adds up the \`MEMORY USAGE\` of everything in Redis. A limiter that also keeps the rejected requests takes far more memory.`,
  async run({ inRedis }) {
    if (inRedis === undefined) return undefined;
    const redis = await PrivateRedis.start();
    await countAllowed(await inRedis({ limit: 10, windowMs: 3_600_000 }, redis), '192.0.2.1', 10 + REJECTED);
    let bytes = 0;
    for (const key of (await redis.run('KEYS', '*')) as string[]) {
      bytes += (await redis.run('MEMORY', 'USAGE', key, 'SAMPLES', 0)) as number;
    }
    return toFigure(bytes, whole);
  },
};

const SHORT_WINDOW_MS = 500;

export const shortWindow: Probe = {
  title: 'second request after 2 s, limit 1 in 500 ms',
  method: 'Allows one request in 500 ms, and sends a second one after two seconds, which should be allowed.',
  async run({ inRedis }) {
    if (inRedis === undefined) return undefined;
    try {
      const limiter = await inRedis({ limit: 1, windowMs: SHORT_WINDOW_MS }, await PrivateRedis.start());
      await limiter.check('192.0.2.1');
      await sleep(4 * SHORT_WINDOW_MS);
      return (await limiter.check('192.0.2.1')).allowed ? 'allowed' : 'rejected';
    } catch {
      return 'error';
    }
  },
};

const SECOND_MS = 1000;

export const lateRefund: Probe = {
  title: 'allowed after 5 late refunds, limit 10',
  method:
    'Sends five requests, refunds them after the window has ended, and then sends 30 more. The refunds should change nothing, so 10 of the 30 should be allowed.',
  async run({ inRedis }) {
    if (inRedis === undefined) return undefined;
    const limiter = await inRedis({ limit: 10, windowMs: SECOND_MS }, await PrivateRedis.start());
    const outcomes = [];
    for (let request = 0; request < 5; request++) outcomes.push(await limiter.check('192.0.2.1'));
    if (outcomes[0]!.refund === undefined) return undefined;
    await sleep(2 * SECOND_MS);
    for (const { refund } of outcomes) await refund!();
    return toFigure(await countAllowed(limiter, '192.0.2.1', 30), whole);
  },
};

export const resetPattern: Probe = {
  title: 'a reset of `*` clears',
  method:
    'Uses up the limit of a key, and then resets the key `*`, which a client can choose. The reset should clear only that key.',
  async run({ inRedis }) {
    if (inRedis === undefined) return undefined;
    const redis = await PrivateRedis.start();
    const limiter = await inRedis({ limit: 1, windowMs: 3_600_000 }, redis);
    if (limiter.reset === undefined) return undefined;
    await countAllowed(limiter, '192.0.2.1', 2);
    await limiter.reset('*');
    // Another limiter, because the first one may remember the rejection.
    const other = await inRedis({ limit: 1, windowMs: 3_600_000 }, redis);
    return (await other.check('192.0.2.1')).allowed ? 'all keys' : 'that key';
  },
};

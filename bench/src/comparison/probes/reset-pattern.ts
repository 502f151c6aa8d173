import { PrivateRedis } from '../private-redis.js';
import { countAllowed, type Probe } from '../probe.js';

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

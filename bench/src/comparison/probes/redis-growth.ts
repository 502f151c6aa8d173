import { toFigure, whole } from '../../table.js';
import { PrivateRedis } from '../private-redis.js';
import { countAllowed, type Probe } from '../probe.js';

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

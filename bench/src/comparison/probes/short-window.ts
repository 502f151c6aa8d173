import { setTimeout as sleep } from 'node:timers/promises';
import { PrivateRedis } from '../private-redis.js';
import type { Probe } from '../probe.js';

const WINDOW_MS = 500;

export const shortWindow: Probe = {
  title: 'second request after 2 s, limit 1 in 500 ms',
  method: 'Allows one request in 500 ms, and sends a second one after two seconds, which should be allowed.',
  async run({ inRedis }) {
    if (inRedis === undefined) return undefined;
    try {
      const limiter = await inRedis({ limit: 1, windowMs: WINDOW_MS }, await PrivateRedis.start());
      await limiter.check('192.0.2.1');
      await sleep(4 * WINDOW_MS);
      return (await limiter.check('192.0.2.1')).allowed ? 'allowed' : 'rejected';
    } catch {
      return 'error';
    }
  },
};

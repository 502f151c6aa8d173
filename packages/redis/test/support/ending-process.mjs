// Waits for some turns, closes what it has opened, and then has nothing more to do. Imports the built packages, as an app does.
import { RateLimiter, rollingWindow } from '@rollgate/core';
import { RedisStore } from '@rollgate/redis';
import { fairWaiting } from '@rollgate/redis/waiting';
import { Redis } from 'ioredis';

const client = new Redis(process.argv[2]);
const subscriber = client.duplicate();
const limiter = new RateLimiter({
  limits: rollingWindow({ limit: 2, window: '50ms' }),
  store: new RedisStore({ client, waiting: fairWaiting({ subscriber, lease: '1h' }) }),
});
await Promise.all([1, 2, 3].map(() => limiter.wait('ending')));
client.disconnect();
subscriber.disconnect();

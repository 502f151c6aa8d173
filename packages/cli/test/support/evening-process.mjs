// One process of an app in the evening: most users are far below their limit, and one is not.
import { RateLimiter } from '@rollgate/core';
import { describeLimiter } from '@rollgate/core/observe';
import { RedisStore } from '@rollgate/redis';
import { Redis } from 'ioredis';

const [, , url, name, number, processes, users] = process.argv;
const client = new Redis(url);
const store = new RedisStore({ client });
const limiter = new RateLimiter({ name, prefix: name, limits: '100/1h', store, timeout: '1m' });
await describeLimiter(limiter).ready;
for (let first = Number(number); first < Number(users); first += 100 * processes) {
  const checks = [limiter.check('abuser', { cost: 4 })];
  for (let user = first; user < Math.min(users, first + 100 * processes); user += Number(processes)) {
    checks.push(limiter.check(`user:${user}`, { cost: 1 + ((user * 7) % 60) }));
  }
  await Promise.all(checks);
}
process.send('busy');
process.once('disconnect', () => process.exit());
// A test measures the command meanwhile, and not how much else the machine can do.
setInterval(() => limiter.check('abuser'), 5);

// One process of rolling-upgrade.mjs: checks and settles random keys with the packages of one checkout until its parent sends a
// message. Then it sends how many units it keeps of each key, and its errors.
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { limitsOf, storeOf } from './rolling-upgrade-limits.mjs';

const { folder, port, keys, limit } = JSON.parse(process.argv[2]);
const require = createRequire(join(folder, 'packages/redis/package.json'));
const checkout = { core: require('@rollgate/core'), redis: require(join(folder, 'packages/redis')), limit };
const { Redis } = require('ioredis');

const client = new Redis(port);
const kept = {};
const errors = [];
let operations = 0;
let isOver = false;
process.on('disconnect', () => process.exit());
process.once('message', () => {
  isOver = true;
});

const random = (below) => Math.floor(Math.random() * below);

async function work(name, limiter) {
  while (!isOver) {
    const key = `user-${random(keys)}`;
    try {
      const cost = 1 + random(3);
      const decision = await limiter.check(key, { cost });
      operations += 1;
      if (!decision.allowed) continue;
      const units = random(4) === 0 ? 0 : 1 + random(cost);
      if (units < cost) await limiter.settle(decision, { cost: units });
      const id = `${name} ${key}`;
      kept[id] = (kept[id] ?? 0) + units;
    } catch (error) {
      errors.push(String(error.cause ?? error));
      await delay(100); // A store that is down rejects at once.
    }
  }
}

await Promise.all(
  Object.entries(limitsOf(checkout)).flatMap(([name, limits]) => {
    const store = storeOf(name, checkout, client);
    const limiter = new checkout.core.RateLimiter({
      limits,
      store,
      prefix: name,
      onStoreError: 'throw',
      timeout: '30s',
    });
    return Array.from({ length: 4 }, () => work(name, limiter));
  }),
);
process.send({ kept, errors, operations }, () => process.exit());

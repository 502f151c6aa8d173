// Makes calls from several callers until it is killed. Imports the built packages, as an app does.
import { setTimeout as delay } from 'node:timers/promises';
import { createFetch, github } from '@rollgate/fetch';
import { RedisStore } from '@rollgate/redis';
import { Redis } from 'ioredis';

const CALLERS = 10;

const { address, redisUrl } = JSON.parse(process.argv[2]);
const client = new Redis(redisUrl);
client.on('error', () => {});
const store = new RedisStore({ client });
const api = createFetch({ store, bucket: () => 'my-app', dialects: [github()], storeTimeout: '10s', lease: '3s' });

async function callForever() {
  for (;;) {
    // A call that waits for too long is made again, as an app does with its queue.
    await api(`${address}?cost=1`).then(
      (response) => response.text(),
      () => delay(10),
    );
  }
}

process.on('disconnect', () => process.exit()); // The parent has ended or needs no more.
for (let caller = 0; caller < CALLERS; caller++) void callForever();

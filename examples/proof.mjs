// Sends the same requests to express-rate-limit and to Rollgate.
import { setTimeout as sleep } from 'node:timers/promises';
import { rateLimit as rolling } from '@rollgate/express';
import express from 'express';
import { rateLimit as fixed } from 'express-rate-limit';

const limiters = {
  'express-rate-limit': fixed({ windowMs: 2000, limit: 10 }),
  '@rollgate/express': rolling({ window: '2s', limit: 10 }),
};
for (const [name, limiter] of Object.entries(limiters)) {
  const app = express().use(limiter, (_, response) => response.end());
  const server = app.listen(0);
  const url = `http://localhost:${server.address().port}`;
  const send = async (count) => {
    let allowed = 0;
    for (; count > 0; count--) if ((await fetch(url)).ok) allowed++;
    return allowed;
  };
  await send(1); // Starts the window.
  await sleep(1800);
  const before = await send(9);
  await sleep(300);
  const total = before + (await send(10));
  console.log(`${name}: ${total} in half a second, limit 10 in 2 s`);
  server.close();
}

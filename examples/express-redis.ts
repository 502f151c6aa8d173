// An Express server that shares its limit with every process on the same Redis.   npm run example express-redis.ts
import { subscribe } from 'node:diagnostics_channel';
import type { AddressInfo } from 'node:net';
import { rateLimit } from '@rollgate/express';
import { RedisStore } from '@rollgate/redis';
import express from 'express';
import { Redis } from 'ioredis';

const { PORT = '3000', REDIS_URL = 'redis://127.0.0.1:6379' } = process.env;

const redis = new Redis(REDIS_URL);
redis.on('error', () => {}); // Emitted at every attempt to connect. The subscriber below logs an outage once.
subscribe('rollgate:store:failure', (message) => console.log(String((message as { error: Error }).error)));
subscribe('rollgate:store:recovery', () => console.log('Redis responds again.'));

const app = express();
// While Redis is down, each process applies the same limit in its own memory, because `onStoreError` is `'fallback'`.
app.use(rateLimit({ limit: 10, window: '1m', store: new RedisStore({ client: redis }) }));
app.get('/', (request, response) => {
  response.json({ pid: process.pid, remaining: request.rateLimit?.remaining, degraded: request.rateLimit?.degraded });
});

const server = app.listen(Number(PORT), '127.0.0.1', (error) => {
  if (error) throw error;
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  console.log(`
Rollgate behind Express, on ${url}, with Redis on ${REDIS_URL}: 10 requests per client in any minute.

  PORT=${port + 1} npm run example express-redis.ts       starts a second process, in another terminal
  for i in $(seq 6); do curl -s ${url}; curl -s http://127.0.0.1:${port + 1}; echo; done
                                                          requests both, which share one limit
  redis-server                                            starts Redis; stop it to see the responses of an outage

Ctrl-C stops the server.`);
});

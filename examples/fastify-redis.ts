// A Fastify server with several limits, shared by every process on the same Redis.   npm run example fastify-redis.ts
import rateLimit from '@rollgate/fastify';
import { RedisStore } from '@rollgate/redis';
import Fastify from 'fastify';
import { Redis } from 'ioredis';

const { PORT = '3000', REDIS_URL = 'redis://127.0.0.1:6379' } = process.env;

const redis = new Redis(REDIS_URL);
redis.on('error', () => {}); // Emitted at every attempt to connect. Rollgate warns about an outage once.

const app = Fastify();
await app.register(rateLimit, {
  // Decided together, so a request that one limit rejects is not counted by the other.
  limits: {
    burst: '5/1s',
    steady: '10/1m',
  },
  store: new RedisStore({ client: redis }),
  timeout: '200ms', // After this time without a reply, this process's memory decides.
});

app.get('/', async ({ rateLimit }) => ({
  pid: process.pid,
  burst: rateLimit?.limits.burst?.remaining,
  steady: rateLimit?.limits.steady?.remaining,
  degraded: rateLimit?.degraded,
}));
app.addHook('onClose', () => redis.disconnect());

const url = await app.listen({ port: Number(PORT), host: '127.0.0.1' });
console.log(`
Rollgate behind Fastify, on ${url}, with Redis on ${REDIS_URL}: 5 requests per client in any second and 10 in
any minute, over all processes.

  for i in $(seq 7); do curl -s ${url}; echo; done
  redis-cli --scan --pattern 'rollgate:*'          lists the keys
  redis-server                                     starts Redis

Ctrl-C stops the server.`);

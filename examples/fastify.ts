// A Fastify server with a limit for all routes and stricter ones for some.   npm run example fastify.ts
import rateLimit from '@rollgate/fastify';
import Fastify from 'fastify';

const app = Fastify();
await app.register(rateLimit, { limit: 10, window: '1m' });

app.get('/', async (request) => ({ hello: request.ip, remaining: request.rateLimit?.remaining }));

// Five tries in ten minutes for each name, wherever they come from, and two seconds between any two.
app.post<{ Body: { name?: string } | undefined }>(
  '/login',
  {
    config: {
      rateLimit: {
        limit: 5,
        window: '10m',
        minDifference: '2s',
        hook: 'preHandler', // The body has been parsed by then.
        key: (request) => `name:${(request.body as { name?: string } | undefined)?.name ?? ''}`,
      },
    },
  },
  async () => ({ welcome: false }),
);

app.get('/health', { config: { rateLimit: false } }, async () => 'ok');

const url = await app.listen({ port: Number(process.env.PORT ?? 3000), host: '127.0.0.1' });
console.log(`
Rollgate behind Fastify, on ${url}: 10 requests in any minute for each client.

  curl -i ${url}
  for i in $(seq 12); do curl -s -o /dev/null -w '%{http_code}\\n' ${url}; done
  curl -i -H 'Content-Type: application/json' -d '{"name":"ann"}' ${url}/login      twice, quickly
  curl -i ${url}/health                                   never limited

Ctrl-C ends it.`);

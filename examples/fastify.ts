// A Fastify server with one limit for all routes and a stricter one for some.   npm run example fastify.ts
import rateLimit from '@rollgate/fastify';
import Fastify from 'fastify';

const app = Fastify();
await app.register(rateLimit, { limit: 10, window: '1m' });

app.get('/', async (request) => ({ hello: request.ip, remaining: request.rateLimit?.remaining }));

// Five attempts per name in any ten minutes, from all addresses together, with at least two seconds between them.
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
Rollgate behind Fastify, on ${url}: 10 requests per client in any minute.

  curl -i ${url}
  for i in $(seq 12); do curl -s -o /dev/null -w '%{http_code}\\n' ${url}; done
  curl -i -H 'Content-Type: application/json' -d '{"name":"ann"}' ${url}/login      run twice within two seconds
  curl -i ${url}/health                             is never limited

Ctrl-C stops the server.`);

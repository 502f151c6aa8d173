// An Express server that lets each client do 10 requests in any minute.   npm run example express.ts
import type { AddressInfo } from 'node:net';
import { rateLimit } from '@rollgate/express';
import express from 'express';

const { PORT = '3000', LIMIT = '10', WINDOW = '1m' } = process.env;

const app = express();
app.set('trust proxy', 'loopback'); // A proxy on this machine may say whom it speaks for, in X-Forwarded-For.
app.use(rateLimit({ limit: Number(LIMIT), window: WINDOW }));
app.get('/', (request, response) => {
  response.json({ hello: request.ip, remaining: request.rateLimit?.remaining, at: performance.now() });
});

const server = app.listen(Number(PORT), '127.0.0.1', (error) => {
  if (error) throw error;
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  console.log(`
Rollgate behind Express, on ${url}: ${LIMIT} requests in any ${WINDOW} for each client.

  curl -i ${url}                                          one request, and what the server tells about it
  for i in $(seq 12); do curl -s -o /dev/null -w '%{http_code}\\n' ${url}; done
                                                                            200 until the limit, then 429
  curl -i -H 'X-Forwarded-For: 203.0.113.7' ${url}        somebody else, with a limit of their own

Ctrl-C ends it.`);
});

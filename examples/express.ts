// An Express server that allows each client 10 requests in any minute.   npm run example express.ts
import type { AddressInfo } from 'node:net';
import { rateLimit } from '@rollgate/express';
import express from 'express';

const { PORT = '3000', LIMIT = '10', WINDOW = '1m' } = process.env;

const app = express();
app.set('trust proxy', 'loopback'); // Trusts the X-Forwarded-For header of a proxy on this machine.
app.use(rateLimit({ limit: Number(LIMIT), window: WINDOW }));
app.get('/', (request, response) => {
  response.json({ hello: request.ip, remaining: request.rateLimit?.remaining, at: performance.now() });
});

const server = app.listen(Number(PORT), '127.0.0.1', (error) => {
  if (error) throw error;
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  console.log(`
Rollgate behind Express, on ${url}: ${LIMIT} requests per client in any ${WINDOW}.

  curl -i ${url}                                    shows the headers of one response
  for i in $(seq 12); do curl -s -o /dev/null -w '%{http_code}\\n' ${url}; done
                                                                     prints 200 until the limit, then 429
  curl -i -H 'X-Forwarded-For: 203.0.113.7' ${url}  sends a request of another client, with its own limit

Ctrl-C stops the server.`);
});

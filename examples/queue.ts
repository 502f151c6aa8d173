// A slow report that is made for one caller after the other: requests queue, one leaves every half second, and who finds the
// queue full is refused. Beside it, each client may ask for 20 in any minute.   npm run example queue.ts
import type { AddressInfo } from 'node:net';
import { leakyBucket, rateLimit, rollingWindow } from '@rollgate/express';
import express from 'express';

const { PORT = '3000', CAPACITY = '4', INTERVAL = '500ms' } = process.env;

const app = express();
app.use(
  rateLimit({
    limits: {
      queue: leakyBucket({ capacity: Number(CAPACITY), interval: INTERVAL }),
      client: rollingWindow({ limit: 20, window: '1m' }),
    },
    key: (request) => ({ queue: 'reports', client: request.ip ?? '' }),
  }),
);
app.get('/', (request, response) => {
  response.json({ heldForMs: request.rateLimit?.delayMs, at: performance.now() });
});

const server = app.listen(Number(PORT), '127.0.0.1', (error) => {
  if (error) throw error;
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  console.log(`
Rollgate behind Express, on ${url}: a queue of ${CAPACITY}, which one request leaves every ${INTERVAL}.

  for i in $(seq 7); do curl -s -w ' %{http_code}\\n' ${url} & done; wait
                                                one at once, ${CAPACITY} in turn, and 429 for the others

Ctrl-C ends it.`);
});

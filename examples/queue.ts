// A slow report that the server creates for one request at a time. Requests queue, and one proceeds every half second. If
// the queue is full, a request is rejected. A second limit allows each client 20 requests in any minute.   npm run example queue.ts
import type { AddressInfo } from 'node:net';
import { leakyBucket, rateLimit } from '@rollgate/express';
import express from 'express';

const { PORT = '3000', CAPACITY = '4', INTERVAL = '500ms' } = process.env;

const app = express();
app.use(
  rateLimit({
    limits: {
      queue: leakyBucket({ capacity: Number(CAPACITY), interval: INTERVAL }),
      client: '20/1m',
    },
    key: (request) => ({ queue: 'reports', client: request.ip ?? '' }),
  }),
);
app.get('/', (request, response) => {
  response.json({ delayMs: request.rateLimit?.delayMs, at: performance.now() });
});

const server = app.listen(Number(PORT), '127.0.0.1', (error) => {
  if (error) throw error;
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  console.log(`
Rollgate behind Express, on ${url}: a queue of ${CAPACITY}, from which one request proceeds every ${INTERVAL}.

  for i in $(seq 7); do curl -s -w ' %{http_code}\\n' ${url} & done; wait
                                                one proceeds at once, ${CAPACITY} wait for their start, others get 429

Ctrl-C stops the server.`);
});

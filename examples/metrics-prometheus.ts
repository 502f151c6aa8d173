// An Express server that counts what its limits decide, for Prometheus.   npm run example metrics-prometheus.ts
import { subscribe } from 'node:diagnostics_channel';
import type { AddressInfo } from 'node:net';
import { type RequestEvent, rateLimit, rollingWindow } from '@rollgate/express';
import { RedisStore } from '@rollgate/redis';
import express from 'express';
import { Redis } from 'ioredis';
import { Counter, Registry } from 'prom-client';

const { PORT = '3000', REDIS_URL } = process.env;

const registry = new Registry();
// The names of limits are few. A client's key as a label would be a time series for each client: a flood of addresses
// would fill the memory of Prometheus, and of this process.
const decisions = new Counter({
  name: 'rollgate_decisions_total',
  help: 'What each limit decided; would_reject is a rejection by a limiter with dryRun.',
  labelNames: ['limit', 'outcome'] as const,
  registers: [registry],
});
const storeFailures = new Counter({
  name: 'rollgate_store_failures_total',
  help: 'How often a store began to fail.',
  registers: [registry],
});

subscribe('rollgate:request', (message) => {
  const { decision, dryRun } = message as RequestEvent;
  for (const [limit, { allowed }] of Object.entries(decision.limits)) {
    decisions.inc({ limit, outcome: allowed ? 'allowed' : dryRun ? 'would_reject' : 'rejected' });
  }
});
subscribe('rollgate:store:failure', () => storeFailures.inc());

const redis = REDIS_URL === undefined ? undefined : new Redis(REDIS_URL);
redis?.on('error', () => {}); // It comes at every attempt to connect; an outage is counted once, above.
const store = redis && new RedisStore({ client: redis });

const app = express();
app.get('/metrics', async (_request, response) => {
  response.type(registry.contentType).send(await registry.metrics()); // Before the limits: scrapes are not to count.
});
app.use(
  rateLimit({
    limits: {
      client: rollingWindow({ limit: 10, window: '1m' }),
      everybody: rollingWindow({ limit: 1000, window: '1m' }),
    },
    key: (request) => ({ client: request.ip ?? '', everybody: 'all' }),
    store,
  }),
);
// What would a stricter limit do? It rejects no request yet. Its decisions are only counted.
app.use(
  rateLimit({
    limits: { stricter: rollingWindow({ limit: 5, window: '1m' }) },
    dryRun: true,
    store,
    prefix: 'planned',
  }),
);
app.get('/', (_request, response) => {
  response.json({ hello: 'world' });
});

const server = app.listen(Number(PORT), '127.0.0.1', (error) => {
  if (error) throw error;
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  console.log(`
Rollgate behind Express, on ${url}: 10 requests in any minute for each client, and 5 on trial.

  for i in $(seq 12); do curl -s -o /dev/null -w '%{http_code}\\n' ${url}; done
  curl -s ${url}/metrics                           what was decided, by limit and outcome
  REDIS_URL=redis://127.0.0.1:6379                 with it, and Redis stopped: rollgate_store_failures_total

Ctrl-C ends it.`);
});

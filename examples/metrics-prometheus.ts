// An Express server that counts the decisions of its limits for Prometheus.   npm run example metrics-prometheus.ts
import { subscribe } from 'node:diagnostics_channel';
import type { AddressInfo } from 'node:net';
import {
  type RefundFailure,
  type RequestEvent,
  rateLimit,
  type StoreFailure,
  type StoreRecovery,
} from '@rollgate/express';
import { RedisStore } from '@rollgate/redis';
import express from 'express';
import { Redis } from 'ioredis';
import { Counter, Gauge, Registry } from 'prom-client';

const { PORT = '3000', REDIS_URL } = process.env;

const registry = new Registry();
// There are few names of limits. A client's key as a label would create one time series per client, so a flood of
// addresses would fill the memory of Prometheus and of this process.
const decisions = new Counter({
  name: 'rollgate_decisions_total',
  help: 'Decisions of each limit. The outcome would_reject is a rejection in a dry run.',
  labelNames: ['limiter', 'limit', 'outcome'] as const,
  registers: [registry],
});
const storeFailures = new Counter({
  name: 'rollgate_store_failures_total',
  help: 'Store outages.',
  registers: [registry],
});

const storeDown = new Gauge({
  name: 'rollgate_store_down',
  help: 'Stores, or nodes of a Cluster, that have failed and not recovered.',
  registers: [registry],
});
const refundFailures = new Counter({
  name: 'rollgate_refund_failures_total',
  help: 'Refunds that failed, so that their requests stay charged.',
  registers: [registry],
});
const leaseLosses = new Counter({
  name: 'rollgate_lease_losses_total',
  help: 'Leases that this process could not renew in time, so others may use their slots or units.',
  registers: [registry],
});

subscribe('rollgate:request', (message) => {
  const { name: limiter, decision, dryRun } = message as RequestEvent;
  for (const [limit, { allowed }] of Object.entries(decision.limits)) {
    decisions.inc({ limiter, limit, outcome: allowed ? 'allowed' : dryRun ? 'would_reject' : 'rejected' });
  }
});
// A store that stops responding after errors publishes another failure of the same outage, so this remembers which parts are down.
const downParts = new Map<object, Set<string>>();
const partsOf = (store: object) => downParts.get(store) ?? downParts.set(store, new Set()).get(store)!;
const publishDown = () => storeDown.set([...downParts.values()].reduce((sum, parts) => sum + parts.size, 0));
subscribe('rollgate:store:failure', (message) => {
  const { store, part, error } = message as StoreFailure;
  console.error('The store has failed:', error); // Rollgate emits no warning if there is a subscriber.
  if (partsOf(store).has(part)) return;
  storeFailures.inc();
  partsOf(store).add(part);
  publishDown();
});
subscribe('rollgate:store:recovery', (message) => {
  const { store, part } = message as StoreRecovery;
  partsOf(store).delete(part);
  publishDown();
});
subscribe('rollgate:refund:failure', (message) => {
  console.error('A refund has failed:', (message as RefundFailure).error);
  refundFailures.inc();
});
subscribe('rollgate:lease:lost', () => leaseLosses.inc());

const redis = REDIS_URL === undefined ? undefined : new Redis(REDIS_URL);
redis?.on('error', () => {}); // Emitted at every attempt to connect. The counter above counts an outage once.
const store = redis && new RedisStore({ client: redis });

const app = express();
app.get('/metrics', async (_request, response) => {
  response.type(registry.contentType).send(await registry.metrics()); // Before the limits, so that scrapes are not limited.
});
app.use(
  rateLimit({
    name: 'api',
    limits: {
      client: '10/1m',
      total: '1000/1m',
    },
    key: (request) => ({ client: request.ip ?? '', total: 'all' }),
    store,
  }),
);
// A dry run of a stricter limit counts its decisions but rejects no request.
app.use(
  rateLimit({
    limits: { stricter: '5/1m' },
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
Rollgate behind Express, on ${url}: 10 requests per client in any minute, and 5 as a dry run.

  for i in $(seq 12); do curl -s -o /dev/null -w '%{http_code}\\n' ${url}; done
  curl -s ${url}/metrics                           prints the decisions by limit and outcome
  REDIS_URL=redis://127.0.0.1:6379                 uses Redis; stop Redis to see rollgate_store_failures_total

Ctrl-C stops the server.`);
});

// A Fastify server that counts the decisions of its limits with OpenTelemetry.   npm run example metrics-opentelemetry.ts
import { subscribe } from 'node:diagnostics_channel';
import { metrics } from '@opentelemetry/api';
import { MeterProvider, MetricReader } from '@opentelemetry/sdk-metrics';
import rateLimit, { type RequestEvent, type StoreFailure, type StoreRecovery } from '@rollgate/fastify';
import { RedisStore } from '@rollgate/redis';
import Fastify from 'fastify';
import { Redis } from 'ioredis';

const { PORT = '3000', REDIS_URL } = process.env;

/** Collects the metrics on request. A real app uses a PeriodicExportingMetricReader with an exporter instead. */
class OnRequestReader extends MetricReader {
  protected async onForceFlush() {}
  protected async onShutdown() {}
}

const reader = new OnRequestReader();
metrics.setGlobalMeterProvider(new MeterProvider({ readers: [reader] }));
const meter = metrics.getMeter('rollgate');
const decisions = meter.createCounter('rollgate.decisions', {
  description: 'Decisions of each limit. The outcome would_reject is a rejection in a dry run.',
});
const storeFailures = meter.createCounter('rollgate.store.failures', {
  description: 'Store outages.',
});

subscribe('rollgate:request', (message) => {
  const { name: limiter, decision, dryRun } = message as RequestEvent;
  for (const [limit, { allowed }] of Object.entries(decision.limits)) {
    // There are few names of limits. A client's key as an attribute would create one time series per client, so a flood
    // of addresses would fill the memory of this process and of the metrics backend.
    decisions.add(1, { limiter, limit, outcome: allowed ? 'allowed' : dryRun ? 'would_reject' : 'rejected' });
  }
});
// A store that stops responding after errors publishes another failure of the same outage, so this remembers which parts are down.
const downParts = new Map<object, Set<string>>();
const partsOf = (store: object) => downParts.get(store) ?? downParts.set(store, new Set()).get(store)!;
subscribe('rollgate:store:failure', (message) => {
  const { store, part, error } = message as StoreFailure;
  console.error('The store has failed:', error); // Rollgate emits no warning if there is a subscriber.
  if (!partsOf(store).has(part)) storeFailures.add(1);
  partsOf(store).add(part);
});
subscribe('rollgate:store:recovery', (message) => {
  const { store, part } = message as StoreRecovery;
  partsOf(store).delete(part);
});

const redis = REDIS_URL === undefined ? undefined : new Redis(REDIS_URL);
redis?.on('error', () => {}); // Emitted at every attempt to connect. The counter above counts an outage once.
const store = redis && new RedisStore({ client: redis });

const app = Fastify();
await app.register(rateLimit, {
  name: 'api',
  limits: {
    client: '10/1m',
    total: '1000/1m',
  },
  key: (request) => ({ client: request.ip, total: 'all' }),
  store,
});

// A dry run of a stricter limit counts its decisions but rejects no request.
await app.register(rateLimit, {
  limits: { stricter: '5/1m' },
  dryRun: true,
  store,
  prefix: 'planned',
});

app.get('/', async () => ({ hello: 'world' }));

// Scrapes are not limited.
app.get('/metrics', { config: { rateLimit: false } }, async () => {
  const { resourceMetrics } = await reader.collect();
  return resourceMetrics.scopeMetrics.flatMap(({ metrics }) =>
    metrics.flatMap(({ descriptor: { name }, dataPoints }) =>
      dataPoints.map(({ attributes, value }) => ({ name, ...attributes, value })),
    ),
  );
});
app.addHook('onClose', () => redis?.disconnect());

const url = await app.listen({ port: Number(PORT), host: '127.0.0.1' });
console.log(`
Rollgate behind Fastify, on ${url}: 10 requests per client in any minute, and 5 as a dry run.

  for i in $(seq 12); do curl -s -o /dev/null -w '%{http_code}\\n' ${url}; done
  curl -s ${url}/metrics                           prints the decisions by limit and outcome
  REDIS_URL=redis://127.0.0.1:6379                 uses Redis; stop Redis to see rollgate.store.failures

Ctrl-C stops the server.`);

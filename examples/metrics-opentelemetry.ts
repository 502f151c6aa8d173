// A Fastify server that counts what its limits decide, by OpenTelemetry.   npm run example metrics-opentelemetry.ts
import { subscribe } from 'node:diagnostics_channel';
import { metrics } from '@opentelemetry/api';
import { MeterProvider, MetricReader } from '@opentelemetry/sdk-metrics';
import rateLimit, { type RequestEvent, rollingWindow } from '@rollgate/fastify';
import { RedisStore } from '@rollgate/redis';
import Fastify from 'fastify';
import { Redis } from 'ioredis';

const { PORT = '3000', REDIS_URL } = process.env;

/** Hands out the metrics when asked. In its place belongs a PeriodicExportingMetricReader with an exporter. */
class OnRequestReader extends MetricReader {
  protected async onForceFlush() {}
  protected async onShutdown() {}
}

const reader = new OnRequestReader();
metrics.setGlobalMeterProvider(new MeterProvider({ readers: [reader] }));
const meter = metrics.getMeter('rollgate');
const decisions = meter.createCounter('rollgate.decisions', {
  description: 'What each limit decided; would_reject is a rejection by a limiter with dryRun.',
});
const storeFailures = meter.createCounter('rollgate.store.failures', {
  description: 'How often a store began to fail.',
});

subscribe('rollgate:request', (message) => {
  const { decision, dryRun } = message as RequestEvent;
  for (const [limit, { allowed }] of Object.entries(decision.limits)) {
    // The names of limits are few. A client's key as an attribute would be a time series for each client: a flood of
    // addresses would fill the memory of this process, and of whatever keeps the metrics.
    decisions.add(1, { limit, outcome: allowed ? 'allowed' : dryRun ? 'would_reject' : 'rejected' });
  }
});
subscribe('rollgate:store:failure', () => storeFailures.add(1));

const redis = REDIS_URL === undefined ? undefined : new Redis(REDIS_URL);
redis?.on('error', () => {}); // It comes at every attempt to connect; an outage is counted once, above.
const store = redis && new RedisStore({ client: redis });

const app = Fastify();
await app.register(rateLimit, {
  limits: {
    client: rollingWindow({ limit: 10, window: '1m' }),
    everybody: rollingWindow({ limit: 1000, window: '1m' }),
  },
  key: (request) => ({ client: request.ip, everybody: 'all' }),
  store,
});

// What would a stricter limit do? It rejects no request yet. Its decisions are only counted.
await app.register(rateLimit, {
  limits: { stricter: rollingWindow({ limit: 5, window: '1m' }) },
  dryRun: true,
  store,
  prefix: 'planned',
});

app.get('/', async () => ({ hello: 'world' }));

// Scrapes are not to count.
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
Rollgate behind Fastify, on ${url}: 10 requests in any minute for each client, and 5 on trial.

  for i in $(seq 12); do curl -s -o /dev/null -w '%{http_code}\\n' ${url}; done
  curl -s ${url}/metrics                           what was decided, by limit and outcome
  REDIS_URL=redis://127.0.0.1:6379                 with it, and Redis stopped: rollgate.store.failures

Ctrl-C ends it.`);

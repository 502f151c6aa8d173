// Calls an API that limits its callers, with metrics of the calls for Prometheus.   npm run example metrics-outgoing.ts
import { subscribe } from 'node:diagnostics_channel';
import { createFetch, github, type ResponseEvent } from '@rollgate/fetch';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { startFakeGithub } from './fake-github.js';

const registry = new Registry();
const registers = [registry];
// A bucket is one of your accounts. With an account for each customer, omit this label and the two gauges.
const responses = new Counter({
  name: 'rollgate_api_responses_total',
  help: 'Responses of APIs. The outcome rejected means that a limit of the API was reached.',
  labelNames: ['bucket', 'outcome'] as const,
  registers,
});
const waits = new Histogram({
  name: 'rollgate_api_wait_seconds',
  help: 'How long calls waited before they were sent.',
  labelNames: ['bucket'] as const,
  buckets: [0.01, 0.1, 1, 10, 60, 600, 3600],
  registers,
});
const remaining = new Gauge({
  name: 'rollgate_api_quota_remaining',
  help: 'The units that the last response reported as left.',
  labelNames: ['bucket', 'unit'] as const,
  registers,
});
const limit = new Gauge({
  name: 'rollgate_api_quota_limit',
  help: 'The units of the full quota, as the last response reported it.',
  labelNames: ['bucket', 'unit'] as const,
  registers,
});

subscribe('rollgate:fetch:response', (message) => {
  const { bucket, isRejected, waitedMs, quotas } = message as ResponseEvent;
  responses.inc({ bucket, outcome: isRejected ? 'rejected' : 'allowed' });
  waits.observe({ bucket }, waitedMs / 1000);
  for (const { unit, ...quota } of quotas) {
    remaining.set({ bucket, unit }, quota.remaining);
    if (quota.limit !== undefined) limit.set({ bucket, unit }, quota.limit);
  }
});

const { url, stop } = await startFakeGithub(); // In your app: const url = 'https://api.github.com'.
const api = createFetch({ bucket: () => 'my-app', dialects: [github()] });
await Promise.all(Array.from({ length: 50 }, (_, index) => api(`${url}/repos/rollgate-js/repository-${index + 1}`)));
await api.close();
stop();

console.log(await registry.metrics());

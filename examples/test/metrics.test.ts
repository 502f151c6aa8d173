import { RedisServer } from '@rollgate/test-support';
import { outputOf, start } from './support/example-server.js';

/** The output of either example, as text for Prometheus or as JSON. */
function samples(metrics: string): Record<string, number> {
  const found: Record<string, number> = {};
  const note = (value: unknown, limit?: unknown, outcome?: unknown) => {
    // A counter of Prometheus begins at 0, one of OpenTelemetry with its first event.
    if (Number(value) !== 0) found[limit === undefined ? 'store failures' : `${limit} ${outcome}`] = Number(value);
  };
  if (metrics.startsWith('[')) {
    for (const { limit, outcome, value } of JSON.parse(metrics) as Record<string, unknown>[])
      note(value, limit, outcome);
  } else {
    const lines = metrics.matchAll(
      /^rollgate_\w+_total(?:\{limiter="(?:api|planned)",limit="(\w+)",outcome="(\w+)"\})? (\d+)$/gm,
    );
    for (const [, limit, outcome, value] of lines) note(value, limit, outcome);
  }
  return found;
}

/** A module that publishes two failures of one outage, its recovery and the next failure, at the first request. */
const FOUR_EVENTS = `data:text/javascript,${encodeURIComponent(`
  import { channel, subscribe, unsubscribe } from 'node:diagnostics_channel';
  const [failure, recovery] = ['failure', 'recovery'].map((event) => channel('rollgate:store:' + event));
  const event = { store: {}, part: '', error: new Error('refused') };
  subscribe('rollgate:request', function publish() {
    unsubscribe('rollgate:request', publish);
    for (const next of [failure, failure, recovery, failure]) next.publish(event);
  });`)}`;

describe.each(['metrics-prometheus.ts', 'metrics-opentelemetry.ts'])('%s', (file) => {
  test('counts decisions and the rejections of a dry run, by limit and never by client', async () => {
    const redis = await RedisServer.start();
    const { url } = await start(file, { REDIS_URL: redis.url });
    for (let turn = 0; turn < 12; turn++) expect((await fetch(url)).status).toBe(turn < 10 ? 200 : 429);
    const counted = {
      'client allowed': 10,
      'client rejected': 2,
      'total allowed': 12,
      'stricter allowed': 5,
      'stricter would_reject': 5,
    };
    const output = await (await fetch(`${url}/metrics`)).text();
    expect(samples(output)).toEqual(counted);
    expect(output).not.toContain('127.0.0.1');
    await redis.stop();
  });

  test('counts an outage of Redis once', async () => {
    const redis = await RedisServer.start();
    const { url } = await start(file, { REDIS_URL: redis.url });
    expect((await fetch(url)).status).toBe(200);
    await redis.stop();
    for (let turn = 0; turn < 3; turn++) expect((await fetch(url)).status).toBe(200);
    expect(samples(await (await fetch(`${url}/metrics`)).text())).toEqual({
      'client allowed': 4,
      'total allowed': 4,
      'stricter allowed': 4,
      'store failures': 1,
    });
  });

  test('counts an outage once although its errors turn into timeouts, and the next one again', async () => {
    const { url } = await start(file, { REDIS_URL: undefined, NODE_OPTIONS: `--import ${FOUR_EVENTS}` });
    await fetch(url);
    expect(samples(await (await fetch(`${url}/metrics`)).text())).toMatchObject({ 'store failures': 2 });
  });

  test('needs no Redis', async () => {
    const { url } = await start(file, { REDIS_URL: undefined });
    expect((await fetch(url)).status).toBe(200);
    expect(samples(await (await fetch(`${url}/metrics`)).text())).toEqual({
      'client allowed': 1,
      'total allowed': 1,
      'stricter allowed': 1,
    });
  });
});

test('metrics-outgoing.ts counts the responses, waits and quotas of calls', async () => {
  const stdout = await outputOf('metrics-outgoing.ts');
  const sampleOf = (sample: string) =>
    stdout
      .split('\n')
      .find((line) => line.startsWith(`${sample} `))
      ?.slice(sample.length + 1);
  const allowed = sampleOf('rollgate_api_responses_total{bucket="my-app",outcome="allowed"}');
  expect(allowed).toBe('50');
  const rejected = Number(sampleOf('rollgate_api_responses_total{bucket="my-app",outcome="rejected"}') ?? 0);
  expect(sampleOf('rollgate_api_wait_seconds_count{bucket="my-app"}')).toBe(String(50 + rejected));
  // The quota of 30 is used up once, so at least 20 calls wait for the next window.
  expect(Number(sampleOf('rollgate_api_wait_seconds_sum{bucket="my-app"}'))).toBeGreaterThan(0);
  expect(sampleOf('rollgate_api_quota_limit{bucket="my-app",unit="requests"}')).toBe('30');
  expect(Number(sampleOf('rollgate_api_quota_remaining{bucket="my-app",unit="requests"}'))).toBeLessThan(30);
});

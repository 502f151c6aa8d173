import { until } from '@rollgate/test-support';
import type { Client, Question, Reply } from './client.js';
import { QUEUE_INTERVAL_MS } from './scenarios.js';

/** A host under test. */
export interface Host {
  readonly client: Client;
  /** The clients of each case have its name, so that no case sees the counts of another one. */
  readonly id: string;
}

/** Why a host cannot have a case. */
export type Exclusions = Readonly<Record<string, string>>;

type Case = (host: Host) => Promise<void>;

const ask = ({ client, id }: Host, scenario: string, { headers, ...question }: Question = {}): Promise<Reply> =>
  client.open(`/${scenario}`, { ...question, headers: { 'x-client': id, ...headers } }).reply;

async function statuses(host: Host, scenario: string, count: number, question?: Question): Promise<number[]> {
  const all: number[] = [];
  for (let turn = 0; turn < count; turn++) all.push((await ask(host, scenario, question)).status);
  return all;
}

async function peek(host: Host, scenario: string): Promise<{ remaining: number }> {
  const { body } = await host.client.open(`/control/peek/${scenario}/${encodeURIComponent(host.id)}`).reply;
  return JSON.parse(body);
}

const untilRemaining = (host: Host, scenario: string, remaining: number) =>
  until(`${remaining} units remain in ${scenario}`, async () => (await peek(host, scenario)).remaining === remaining);

const withBehavior = (behavior: string): Question => ({ headers: { 'x-behavior': behavior } });

/** What browsers accept when they open a page. */
const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/webp,*/*;q=0.8';

/** The cases that every host passes. */
export const cases: Readonly<Record<string, Case>> = {
  async 'every response has the headers of the limit'(host) {
    const first = await ask(host, 'window');
    expect(first).toMatchObject({ status: 200, body: 'hello' });
    expect(first.headers).toMatchObject({ 'x-ratelimit-limit': '2', 'x-ratelimit-remaining': '1' });
    expect(Number(first.headers['x-ratelimit-reset'])).toBeGreaterThan(0);
    expect(first.headers).not.toHaveProperty('retry-after');
    expect((await ask(host, 'window')).headers['x-ratelimit-remaining']).toBe('0');
  },
  async 'a rejection has a status, headers and a body that programs can read'(host) {
    await statuses(host, 'window', 2);
    const { status, headers, body } = await ask(host, 'window');
    expect(status).toBe(429);
    expect(headers).toMatchObject({ 'x-ratelimit-remaining': '0', 'cache-control': 'no-store' });
    expect(Number(headers['retry-after'])).toBeGreaterThan(3500);
    expect(headers['content-type']).toMatch(/^application\/json/);
    expect(JSON.parse(body)).toMatchObject({
      statusCode: 429,
      code: 'RATE_LIMIT_EXCEEDED',
      error: 'Too Many Requests',
      message: expect.stringMatching(/^Rate limit exceeded: try again in \d+ seconds$/),
    });
  },
  async 'the draft headers name each limit'(host) {
    const { headers } = await ask(host, 'draft');
    expect(headers['ratelimit-policy']).toBe('"burst";q=2;w=60, "daily";q=9;w=86400');
    expect(headers.ratelimit).toMatch(/^"burst";r=1;t=(60|59), "daily";r=8;t=86(400|399)$/);
    expect(headers).not.toHaveProperty('x-ratelimit-limit');
  },
  async 'headers are exposed to scripts of other origins'(host) {
    const { headers } = await ask(host, 'exposed');
    expect(headers['access-control-expose-headers']?.toLowerCase()).toContain('retry-after');
    expect(headers).toHaveProperty('ratelimit-policy');
    expect(headers).toHaveProperty('x-ratelimit-limit');
  },
  async 'the headers and the status are configurable'(host) {
    const allowed = await ask(host, 'silent');
    expect(Object.keys(allowed.headers).filter((name) => name.includes('ratelimit'))).toEqual([]);
    const rejected = await ask(host, 'silent');
    expect(rejected.status).toBe(503);
    expect(rejected.headers).toHaveProperty('retry-after');
    expect(rejected.headers).not.toHaveProperty('x-ratelimit-limit');
  },
  async 'a rejection may contain problem details'(host) {
    await ask(host, 'problem');
    const { status, headers, body } = await ask(host, 'problem');
    expect(status).toBe(429);
    expect(headers['content-type']).toMatch(/^application\/problem\+json/);
    expect(JSON.parse(body)).toMatchObject({
      type: 'https://iana.org/assignments/http-problem-types#quota-exceeded',
      status: 429,
      'violated-policies': ['default'],
    });
  },
  async 'a HEAD request counts, and its rejection has no body'(host) {
    expect(await statuses(host, 'window', 2, { method: 'HEAD' })).toEqual([200, 200]);
    const rejected = await ask(host, 'window', { method: 'HEAD' });
    expect(rejected).toMatchObject({ status: 429, body: '' });
    expect(rejected.headers).toHaveProperty('retry-after');
    expect(Number(rejected.headers['content-length'])).toBeGreaterThan(50);
  },
  async 'a HEAD request releases its slot and can be refunded'(host) {
    const head = { method: 'HEAD' };
    expect(await statuses(host, 'slots', 1, head)).toEqual([200]);
    await untilRemaining(host, 'slots', 1);
    expect(await statuses(host, 'skip-successful', 1, head)).toEqual([200]);
    await untilRemaining(host, 'skip-successful', 2);
  },
  async 'several limits decide together'(host) {
    const as = (user: string): Question => ({ headers: { 'x-group': host.id, 'x-client': `${host.id} ${user}` } });
    expect((await ask(host, 'several', as('ann'))).status).toBe(200);
    const again = await ask(host, 'several', as('ann'));
    expect(again.status).toBe(429);
    expect(again.headers['x-ratelimit-limit']).toBe('1');
    expect((await ask(host, 'several', as('bob'))).status).toBe(200);
    expect((await ask(host, 'several', as('eve'))).status).toBe(200);
    expect((await ask(host, 'several', as('dan'))).headers['x-ratelimit-limit']).toBe('3');
  },
  async 'the headers describe the limit with the least share left'(host) {
    const shown = async (tokens: number) => {
      const { headers } = await ask(host, 'shares', { headers: { 'x-cost': String(tokens) } });
      await untilRemaining(host, 'shares', 1); // The slot is free again.
      return [headers['x-ratelimit-limit'], headers['x-ratelimit-remaining']];
    };
    expect(await shown(10)).toEqual(['5', '4']);
    expect(await shown(800)).toEqual(['1000', '190']);
    // A request that takes none of a limit does not show it.
    expect(await shown(0)).toEqual(['5', '2']);
    const streaming = host.client.open('/shares', {
      headers: { 'x-client': host.id, 'x-cost': '1', 'x-behavior': 'endless' },
    });
    await streaming.firstPart;
    const rejected = await ask(host, 'shares', { headers: { 'x-cost': '1' } });
    expect(rejected.headers).toMatchObject({ 'x-ratelimit-limit': '1', 'x-ratelimit-remaining': '0' });
    streaming.abort();
  },
  async 'a request takes its cost, and one above the limit has no Retry-After'(host) {
    const costing = (cost: number): Question => ({ headers: { 'x-cost': String(cost) } });
    expect((await ask(host, 'cost', costing(3))).headers['x-ratelimit-remaining']).toBe('2');
    expect((await ask(host, 'cost', costing(3))).status).toBe(429);
    const never = await ask(host, 'cost', costing(6));
    expect(never.status).toBe(429);
    expect(never.headers).not.toHaveProperty('retry-after');
  },
  async 'skipped requests are neither counted nor given headers'(host) {
    const skipped = await ask(host, 'skip', { headers: { 'x-skip': 'yes' } });
    expect(skipped.status).toBe(200);
    expect(skipped.headers).not.toHaveProperty('x-ratelimit-limit');
    expect(await statuses(host, 'skip', 2)).toEqual([200, 429]);
  },
  async 'addresses of the allow list are not counted'(host) {
    expect(await statuses(host, 'allow-list', 3)).toEqual([200, 200, 200]);
  },
  async 'a dry run counts, but rejects nothing'(host) {
    expect(await statuses(host, 'dry-run', 2)).toEqual([200, 200]);
    expect((await ask(host, 'dry-run')).headers).not.toHaveProperty('x-ratelimit-limit');
    expect((await peek(host, 'dry-run')).remaining).toBe(0);
    expect(await statuses(host, 'failing-dry-run', 2)).toEqual([200, 200]);
  },
  async 'a queue starts one request per interval'(host) {
    const startedMs = performance.now();
    expect(await Promise.all([1, 2, 3].map(async () => (await ask(host, 'queue')).status))).toEqual([200, 200, 200]);
    // A busy machine only takes longer. Timers of a host count whole milliseconds.
    expect(performance.now() - startedMs).toBeGreaterThan(2 * QUEUE_INTERVAL_MS - 2);
  },
  async 'a full queue rejects'(host) {
    expect((await ask(host, 'long-queue')).status).toBe(200);
    const waiting = host.client.open('/long-queue', { headers: { 'x-client': host.id } });
    await untilRemaining(host, 'long-queue', 0);
    expect((await ask(host, 'long-queue')).status).toBe(429);
    waiting.abort();
  },
  async 'a client that leaves a queue frees its start'(host) {
    expect((await ask(host, 'long-queue')).status).toBe(200);
    const waiting = host.client.open('/long-queue', { headers: { 'x-client': host.id } });
    await untilRemaining(host, 'long-queue', 0);
    waiting.abort();
    await untilRemaining(host, 'long-queue', 1);
  },
  async 'a failing option function fails the request'(host) {
    expect(await statuses(host, 'failing-key', 1)).toEqual([500]);
    expect(await statuses(host, 'failing-cost', 1)).toEqual([500]);
    expect(await statuses(host, 'failing-message', 2)).toEqual([200, 500]);
  },
  async 'a message that is a string is the body of a rejection'(host) {
    await ask(host, 'text');
    for (const accept of ['*/*', 'application/json', BROWSER]) {
      const { status, headers, body } = await ask(host, 'text', { headers: { accept } });
      expect([status, headers['content-type'], body]).toEqual([429, 'text/plain; charset=utf-8', 'Slow down']);
      expect(Number(headers['retry-after'])).toBeGreaterThan(3500);
    }
  },
  async 'a message in several formats is negotiated'(host) {
    await ask(host, 'formats');
    for (const [accept, type, expected] of [
      ['*/*', 'application/json; charset=utf-8', '{"slow":"down"}'],
      ['text/*;q=0.5, application/json', 'application/json; charset=utf-8', '{"slow":"down"}'],
      ['text/plain', 'text/plain; charset=utf-8', 'Slow down'],
      [BROWSER, 'text/html; charset=utf-8', '<p>Slow down</p>'],
    ]) {
      const { status, headers, body } = await ask(host, 'formats', { headers: { accept: accept! } });
      expect([status, headers['content-type'], body]).toEqual([429, type, expected]);
      expect(headers['cache-control']).toBe('no-store');
    }
  },
  async 'a page for browsers leaves other clients the default body'(host) {
    await ask(host, 'page');
    const page = await ask(host, 'page', { headers: { accept: BROWSER } });
    expect([page.status, page.headers['content-type'], page.body]).toEqual([
      429,
      'text/html; charset=utf-8',
      '<p>Später</p>',
    ]);
    const head = await ask(host, 'page', { method: 'HEAD', headers: { accept: BROWSER } });
    expect([head.status, head.headers['content-type'], head.body]).toEqual([429, 'text/html; charset=utf-8', '']);
    const { headers, body } = await ask(host, 'page');
    expect(headers['content-type']).toMatch(/^application\/json/);
    expect(JSON.parse(body)).toMatchObject({ statusCode: 429, code: 'RATE_LIMIT_EXCEEDED' });
  },
  async 'the status of a rejection may depend on the decision'(host) {
    const costing = async (cost: number) => {
      const { status, body } = await ask(host, 'status', { headers: { 'x-cost': String(cost) } });
      return [status, status === 200 ? body : JSON.parse(body).error];
    };
    expect(await costing(2)).toEqual([200, 'hello']);
    expect(await costing(1)).toEqual([503, 'Service Unavailable']);
    expect(await costing(3)).toEqual([413, 'Payload Too Large']);
  },
  async 'a message that is an object is the body of a rejection'(host) {
    await ask(host, 'object');
    const { status, body } = await ask(host, 'object');
    expect([status, JSON.parse(body)]).toEqual([429, { oh: 'no' }]);
  },
  async 'a message that is an error is a rejection for the error handler of the host'(host) {
    await ask(host, 'error-message');
    const { status, headers, body } = await ask(host, 'error-message');
    expect(status).toBe(429);
    expect(headers).toMatchObject({ 'x-ratelimit-remaining': '0', 'cache-control': 'no-store' });
    expect(Number(headers['retry-after'])).toBeGreaterThan(3500);
    expect(body).toContain('Used up');
  },
  async 'a rejection is plain text for clients that prefer it'(host) {
    await statuses(host, 'window', 2);
    const plain = await ask(host, 'window', { headers: { accept: 'text/plain' } });
    expect(plain.headers['content-type']).toMatch(/^text\/plain/);
    expect(plain.body).toMatch(/^Rate limit exceeded: try again in \d+ seconds\n$/);
  },
  async 'onLimited is called once for each rejection'(host) {
    await statuses(host, 'on-limited', 3);
    const { body } = await host.client.open(`/control/limited/${encodeURIComponent(host.id)}`).reply;
    expect(JSON.parse(body)).toEqual({ calls: 2 });
  },
  async 'failed requests are refunded'(host) {
    expect((await ask(host, 'skip-failed', withBehavior('missing'))).status).toBe(404);
    await untilRemaining(host, 'skip-failed', 2);
    expect((await ask(host, 'skip-failed')).status).toBe(200);
    await untilRemaining(host, 'skip-failed', 1);
  },
  async 'a handler that throws fails its request, which is refunded'(host) {
    expect((await ask(host, 'skip-failed', withBehavior('throw'))).status).toBe(500);
    await untilRemaining(host, 'skip-failed', 2);
  },
  async 'successful requests are refunded at the end of their stream'(host) {
    const streamed = await ask(host, 'skip-successful', withBehavior('stream'));
    expect(streamed).toMatchObject({ status: 200, body: 'hello' });
    await untilRemaining(host, 'skip-successful', 2);
    expect((await ask(host, 'skip-successful', withBehavior('missing'))).status).toBe(404);
    expect((await peek(host, 'skip-successful')).remaining).toBe(1);
  },
  async 'aborted requests are refunded, and only where the options say so'(host) {
    for (const scenario of ['skip-aborted', 'skip-failed']) {
      const streaming = host.client.open(`/${scenario}`, {
        headers: { 'x-client': host.id, 'x-behavior': 'endless' },
      });
      expect(await streaming.firstPart).toBe('hel');
      expect((await peek(host, scenario)).remaining).toBe(1);
      streaming.abort();
    }
    await untilRemaining(host, 'skip-aborted', 2);
    expect((await peek(host, 'skip-failed')).remaining).toBe(1);
  },
  async 'slots are released when the response ends or its client leaves'(host) {
    for (const behavior of ['hello', 'stream', 'throw']) {
      await ask(host, 'slots', withBehavior(behavior));
      await untilRemaining(host, 'slots', 1);
    }
    const streaming = host.client.open('/slots', { headers: { 'x-client': host.id, 'x-behavior': 'endless' } });
    expect(await streaming.firstPart).toBe('hel');
    expect((await ask(host, 'slots')).status).toBe(429);
    streaming.abort();
    await untilRemaining(host, 'slots', 1);
  },
  async 'a response that other code drops releases its slot'(host) {
    const { status, body } = await ask(host, 'slots', withBehavior('dropped'));
    expect({ status, body }).toEqual({ status: 200, body: 'replaced' });
    await until('the slot is free', async () => {
      await host.client.open('/control/collect-garbage').reply;
      return (await peek(host, 'slots')).remaining === 1;
    });
  },
  async 'a request is settled with its actual cost, by limit'(host) {
    expect((await ask(host, 'settle', withBehavior('settle'))).status).toBe(200);
    expect(await peek(host, 'settle')).toMatchObject({
      limits: { requests: { remaining: 4 }, tokens: { remaining: 58 } },
    });
    expect((await ask(host, 'settle', withBehavior('settle-unknown'))).status).toBe(500);
    expect(await peek(host, 'settle')).toMatchObject({
      limits: { requests: { remaining: 3 }, tokens: { remaining: 48 } },
    });
  },
  async 'a request is settled at one limiter only'(host) {
    expect((await ask(host, 'settle', withBehavior('settle-other'))).status).toBe(200);
    expect(await peek(host, 'settle')).toMatchObject({
      limits: { requests: { remaining: 4 }, tokens: { remaining: 90 } },
    });
    expect((await ask(host, 'settle', withBehavior('settle-own'))).status).toBe(200);
    expect(await peek(host, 'settle')).toMatchObject({
      limits: { requests: { remaining: 2 }, tokens: { remaining: 85 } },
    });
  },
  async 'parallel requests are counted exactly'(host) {
    const replies = await Promise.all(Array.from({ length: 50 }, () => ask(host, 'ten')));
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(10);
    expect(replies.filter(({ status }) => status === 429)).toHaveLength(40);
  },
  async 'a forged X-Forwarded-For does not change the client'(host) {
    const from = (address: string) =>
      ask(host, 'address', {
        headers: { 'x-forwarded-for': address, 'x-real-ip': address, forwarded: `for=${address}` },
      });
    await from('203.0.113.1');
    expect((await from('203.0.113.2')).status).toBe(429);
    expect((await from('203.0.113.3')).status).toBe(429);
  },
  async 'a rejected request ends a response that other code has started'(host) {
    for (let turn = 0; turn < 2; turn++) {
      const { status, body } = await host.client.open('/started', {
        headers: { 'x-client': host.id, 'x-behavior': turn === 0 ? 'hello' : 'endless' },
      }).reply;
      expect(status).toBe(200);
      expect(body).toMatch(/^hel/);
    }
  },
};

import { QUEUE_INTERVAL_MS } from '../scenarios.js';
import { type Case, peek, send, statuses, untilRemaining, withBehavior } from './case.js';

/** What a host counts, and the headers that report it. */
export const decisions: Readonly<Record<string, Case>> = {
  async 'every response has the headers of the limit'(host) {
    const first = await send(host, 'window');
    expect(first).toMatchObject({ status: 200, body: 'hello' });
    expect(first.headers).toMatchObject({ 'x-ratelimit-limit': '2', 'x-ratelimit-remaining': '1' });
    expect(Number(first.headers['x-ratelimit-reset'])).toBeGreaterThan(0);
    expect(first.headers).not.toHaveProperty('retry-after');
    expect((await send(host, 'window')).headers['x-ratelimit-remaining']).toBe('0');
  },
  async 'a redirection has no draft headers, because its client would wait before it follows'(host) {
    for (const [behavior, status] of [
      ['redirect', 302],
      ['not-modified', 304],
      ['missing', 404],
    ] as const) {
      const reply = await send(host, 'all-headers', withBehavior(behavior));
      const names = Object.keys(reply.headers).filter((name) => name.startsWith('ratelimit'));
      expect([reply.status, names.sort()]).toEqual([status, status === 404 ? ['ratelimit', 'ratelimit-policy'] : []]);
      expect(reply.headers).toMatchObject({ 'x-ratelimit-limit': '10' });
    }
  },
  async 'headers are exposed to scripts of other origins'(host) {
    const { headers } = await send(host, 'exposed');
    expect(headers['access-control-expose-headers']?.toLowerCase()).toContain('retry-after');
    expect(headers).toHaveProperty('ratelimit-policy');
    expect(headers).toHaveProperty('x-ratelimit-limit');
  },
  async 'a HEAD request counts, and its rejection has no body'(host) {
    expect(await statuses(host, 'window', 2, { method: 'HEAD' })).toEqual([200, 200]);
    const rejected = await send(host, 'window', { method: 'HEAD' });
    expect(rejected).toMatchObject({ status: 429, body: '' });
    expect(rejected.headers).toHaveProperty('retry-after');
    expect(Number(rejected.headers['content-length'])).toBeGreaterThan(50);
  },
  async 'addresses of the allow list are neither counted nor given headers'(host) {
    expect(await statuses(host, 'allow-list', 2)).toEqual([200, 200]);
    expect((await send(host, 'allow-list')).headers).not.toHaveProperty('x-ratelimit-limit');
  },
  async 'a dry run counts, but rejects nothing'(host) {
    expect(await statuses(host, 'dry-run', 2)).toEqual([200, 200]);
    expect((await send(host, 'dry-run')).headers).not.toHaveProperty('x-ratelimit-limit');
    expect((await peek(host, 'dry-run')).remaining).toBe(0);
    expect(await statuses(host, 'failing-dry-run', 2)).toEqual([200, 200]);
  },
  async 'a queue starts one request per interval'(host) {
    const startedMs = performance.now();
    expect(await Promise.all([1, 2, 3].map(async () => (await send(host, 'queue')).status))).toEqual([200, 200, 200]);
    // A busy machine only takes longer. Timers of a host count whole milliseconds.
    expect(performance.now() - startedMs).toBeGreaterThan(2 * QUEUE_INTERVAL_MS - 2);
  },
  async 'a full queue rejects'(host) {
    expect((await send(host, 'long-queue')).status).toBe(200);
    const waiting = host.client.open('/long-queue', { headers: { 'x-client': host.id } });
    await untilRemaining(host, 'long-queue', 0);
    expect((await send(host, 'long-queue')).status).toBe(429);
    waiting.abort();
  },
  async 'a client that leaves a queue frees its start'(host) {
    expect((await send(host, 'long-queue')).status).toBe(200);
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
  async 'a key may combine the key of the client with something else'(host) {
    const as = async (user: string) => {
      const headers = { 'x-client': `${host.id} ${user}`, 'x-forwarded-for': '203.0.113.1' };
      return (await send(host, 'client-key', { headers })).status;
    };
    expect([await as('ann'), await as('ann'), await as('bob'), await as('eve')]).toEqual([200, 429, 200, 429]);
    const { body } = await host.client.open('/control/peek/client-key/127.0.0.1').reply;
    expect(JSON.parse(body)).toMatchObject({ limits: { login: { remaining: 1 }, address: { remaining: 0 } } });
  },
  async 'a forged X-Forwarded-For does not change the client, with and without a key'(host) {
    for (const scenario of ['address', 'no-user']) {
      const from = (address: string) =>
        send(host, scenario, {
          headers: { 'x-forwarded-for': address, 'x-real-ip': address, forwarded: `for=${address}` },
        });
      expect((await from('203.0.113.1')).status).toBe(200);
      expect((await from('203.0.113.2')).status).toBe(429);
      expect((await from('203.0.113.3')).status).toBe(429);
    }
  },
};

import type { RequestOptions } from '../client.js';
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
  async 'the draft headers name each limit'(host) {
    const { headers } = await send(host, 'draft');
    expect(headers['ratelimit-policy']).toBe('"burst";q=2;w=60, "daily";q=9;w=86400');
    expect(headers.ratelimit).toMatch(/^"burst";r=1;t=(60|59), "daily";r=8;t=86(400|399)$/);
    expect(headers).not.toHaveProperty('x-ratelimit-limit');
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
  async 'a blocked client waits until its block ends'(host) {
    const control = (command: string) =>
      host.client.open(`/control/${command}/blocks/${encodeURIComponent(host.id)}`).reply;
    const open = await send(host, 'blocks');
    expect(open.headers).toMatchObject({ 'x-ratelimit-limit': '2', 'ratelimit-policy': '"attempts";q=2;w=3600' });
    expect(open.headers.ratelimit).toMatch(/^"attempts";r=1;t=\d+$/);
    expect(JSON.parse((await control('block')).body)).toMatchObject({ reason: 'blocked', retryAfterMs: 3_600_000 });
    const blocked = await send(host, 'blocks');
    expect(blocked.status).toBe(429);
    expect(blocked.headers).toMatchObject({
      'x-ratelimit-limit': '0',
      'x-ratelimit-remaining': '0',
      'ratelimit-policy': '"attempts";q=2;w=3600, "blocked";q=0',
    });
    expect(blocked.headers['retry-after']).toMatch(/^3600|3599$/);
    expect(blocked.headers.ratelimit).toMatch(/^"blocked";r=0;t=(3600|3599)$/);
    await control('ban');
    const banned = await send(host, 'blocks');
    expect([banned.status, banned.body]).toEqual([429, expect.stringContaining('Access is blocked')]);
    expect(banned.headers).toMatchObject({ 'x-ratelimit-remaining': '0', ratelimit: '"blocked";r=0' });
    for (const name of ['retry-after', 'x-ratelimit-reset']) expect(banned.headers).not.toHaveProperty(name);
    expect(Object.keys(JSON.parse((await control('open')).body))).toEqual(['blocked']);
    expect(await statuses(host, 'blocks', 2)).toEqual([200, 429]); // The attempts before the block still count.
  },
  async 'a HEAD request counts, and its rejection has no body'(host) {
    expect(await statuses(host, 'window', 2, { method: 'HEAD' })).toEqual([200, 200]);
    const rejected = await send(host, 'window', { method: 'HEAD' });
    expect(rejected).toMatchObject({ status: 429, body: '' });
    expect(rejected.headers).toHaveProperty('retry-after');
    expect(Number(rejected.headers['content-length'])).toBeGreaterThan(50);
  },
  async 'several limits decide together'(host) {
    const as = (user: string): RequestOptions => ({
      headers: { 'x-group': host.id, 'x-client': `${host.id} ${user}` },
    });
    expect((await send(host, 'several', as('ann'))).status).toBe(200);
    const again = await send(host, 'several', as('ann'));
    expect(again.status).toBe(429);
    expect(again.headers['x-ratelimit-limit']).toBe('1');
    expect((await send(host, 'several', as('bob'))).status).toBe(200);
    expect((await send(host, 'several', as('eve'))).status).toBe(200);
    expect((await send(host, 'several', as('dan'))).headers['x-ratelimit-limit']).toBe('3');
  },
  async 'the headers describe the limit with the least left'(host) {
    const shown = async (tokens: number) => {
      const { headers } = await send(host, 'shares', { headers: { 'x-cost': String(tokens) } });
      await untilRemaining(host, 'shares', 1); // The slot is free again.
      return [headers['x-ratelimit-limit'], headers['x-ratelimit-remaining']];
    };
    expect(await shown(10)).toEqual(['5', '4']);
    expect(await shown(988)).toEqual(['1000', '2']);
    // A request that takes none of a limit does not show it.
    expect(await shown(0)).toEqual(['5', '2']);
    const streaming = host.client.open('/shares', {
      headers: { 'x-client': host.id, 'x-cost': '1', 'x-behavior': 'endless' },
    });
    await streaming.firstPart;
    const rejected = await send(host, 'shares', { headers: { 'x-cost': '1' } });
    expect(rejected.headers).toMatchObject({ 'x-ratelimit-limit': '1', 'x-ratelimit-remaining': '0' });
    streaming.abort();
  },
  async 'a request takes its cost, and one above the limit has no Retry-After'(host) {
    const costing = (cost: number): RequestOptions => ({ headers: { 'x-cost': String(cost) } });
    expect((await send(host, 'cost', costing(3))).headers['x-ratelimit-remaining']).toBe('2');
    expect((await send(host, 'cost', costing(3))).status).toBe(429);
    const never = await send(host, 'cost', costing(6));
    expect(never.status).toBe(429);
    expect(never.headers).not.toHaveProperty('retry-after');
  },
  async 'skipped requests are neither counted nor given headers'(host) {
    const skipped = await send(host, 'skip', { headers: { 'x-skip': 'yes' } });
    expect(skipped.status).toBe(200);
    expect(skipped.headers).not.toHaveProperty('x-ratelimit-limit');
    expect(await statuses(host, 'skip', 2)).toEqual([200, 429]);
  },
  async 'addresses of the allow list are not counted'(host) {
    expect(await statuses(host, 'allow-list', 3)).toEqual([200, 200, 200]);
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
  async 'parallel requests are counted exactly'(host) {
    const replies = await Promise.all(Array.from({ length: 50 }, () => send(host, 'ten')));
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(10);
    expect(replies.filter(({ status }) => status === 429)).toHaveLength(40);
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
  async 'a plan may be text, suspended or unlimited'(host) {
    const as = (plan: string) => send(host, 'plan', { headers: { 'x-plan': plan } });
    const [unlimited, suspended] = [await as('unlimited'), await as('suspended')];
    expect([unlimited.status, suspended.status]).toEqual([200, 429]);
    expect(Object.keys(unlimited.headers).filter((name) => name.includes('ratelimit'))).toEqual([]);
    expect(suspended.headers).toMatchObject({ 'x-ratelimit-limit': '0', 'x-ratelimit-remaining': '0' });
    for (const name of ['retry-after', 'x-ratelimit-reset']) expect(suspended.headers).not.toHaveProperty(name);
    expect([(await as('free')).status, (await as('free')).status]).toEqual([200, 429]);
  },
};

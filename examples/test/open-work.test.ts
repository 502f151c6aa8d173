import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { RedisServer, until } from '@rollgate/test-support';
import { WebSocket } from 'ws';
import { start } from './support/example-server.js';

async function readUntil(body: ReadableStream<Uint8Array>, end: string): Promise<void> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  for (let found = ''; !found.includes(end); ) found += decoder.decode((await reader.read()).value, { stream: true });
}

describe('llm-gateway-redis.ts', () => {
  let redis: RedisServer;
  let url: string;
  beforeAll(async () => {
    redis = await RedisServer.start();
  });
  afterAll(() => redis.stop());

  const requestCompletion = (key: string, prompt: string | number, signal: AbortSignal | null = null) =>
    fetch(`${url}/complete`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${key}` },
      body: JSON.stringify({ prompt }),
      signal,
    });
  const usage = async () => {
    const response = await fetch(`${url}/usage`, { headers: { Authorization: 'Bearer ann-key' } });
    return (await response.json()) as Record<'userTokens', number>;
  };
  const untilUsage = (usedUp: Record<string, number>) =>
    until(`the usage is ${JSON.stringify(usedUp)}`, async () => {
      const found: Record<string, number> = await usage();
      return Object.entries(usedUp).every(([name, units]) => found[name] === units);
    });

  test('settles streams, even above their estimate, and those whose client leaves', async () => {
    ({ url } = await start('llm-gateway-redis.ts', { REDIS_URL: redis.url, TOKEN_MS: '1' }));
    await settleStreams();
    await redis.run('FLUSHALL');
    await abortStreams();
  });

  async function settleStreams() {
    expect((await requestCompletion('unknown-key', 'Write 1 words')).status).toBe(401);
    expect((await requestCompletion('ann-key', 7)).status).toBe(400);
    const events = await (await requestCompletion('ann-key', 'Write 3 words')).text();
    expect(events.split('\n\n')).toEqual([
      'data: {"text":"word 1 "}',
      'data: {"text":"word 2 "}',
      'data: {"text":"word 3 "}',
      'data: {"usage":{"totalTokens":7}}',
      '',
    ]);
    const streams = { userStreams: 2, organizationStreams: 3 };
    await untilUsage({
      userRequests: 19,
      organizationRequests: 29,
      userTokens: 393,
      organizationTokens: 593,
      ...streams,
    });
    await (await requestCompletion('ann-key', 'Write 400 words')).text();
    await untilUsage({ userTokens: 0, organizationTokens: 189 });
    const rejected = await requestCompletion('ann-key', 'Write 1 words');
    expect(rejected.status).toBe(429);
    expect(rejected.headers.get('Retry-After')).toMatch(/^\d+$/);
    expect(await rejected.json()).toMatchObject({ 'violated-policies': ['userTokens'] });
  }

  async function abortStreams() {
    const [first, second] = [new AbortController(), new AbortController()];
    const streams = [
      await requestCompletion('ann-key', 'Write 99999 words', first.signal),
      await requestCompletion('ann-key', 'Write 99999 words', second.signal),
    ];
    for (const { body } of streams) await readUntil(body!, 'word 101 ');
    const rejected = await requestCompletion('ann-key', 'Write 1 words');
    expect(rejected.headers.get('RateLimit-Policy')).toContain('"userTokens";q=400;w=60');
    expect(await rejected.json()).toMatchObject({ status: 429, 'violated-policies': ['userStreams'] });
    first.abort();
    second.abort();
    await untilUsage({ userStreams: 2, organizationStreams: 3, userRequests: 18 });
    // Each has reserved 105 tokens, and has used at least 106.
    await until('both streams are settled', async () => (await usage()).userTokens <= 400 - 2 * 106);
  }
});

describe('websocket.ts', () => {
  test('limits the open connections and the messages of a client', async () => {
    const { url } = await start('websocket.ts');
    const open = () => new WebSocket(url.replace('http', 'ws'));
    const [first, second] = [open(), open()];
    await Promise.all([once(first, 'open'), once(second, 'open')]);
    const rejected = open();
    const [, response] = (await once(rejected, 'unexpected-response')) as [unknown, IncomingMessage];
    expect(response).toMatchObject({ statusCode: 429, headers: { 'retry-after': '1' } });
    expect(await text(response)).toBe('Too many connections: open\n');

    const halfOpen = connect({ port: Number(new URL(url).port), allowHalfOpen: true }).on('error', () => {});
    halfOpen.write('GET / HTTP/1.1\r\nHost: here\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
    expect(String(await once(halfOpen, 'data'))).toMatch(/^HTTP\/1.1 429 /);
    await until('the server has destroyed the connection', async () => {
      halfOpen.write('.'); // Only a reset of the connection ends it.
      return halfOpen.destroyed;
    });

    const replies: string[] = [];
    second.on('message', (data) => replies.push(JSON.parse(String(data))));
    for (let count = 1; count <= 6; count++) second.send(`hello ${count}`);
    await until('all messages have replies', async () => replies.length === 6);
    expect(replies[0]).toEqual({ echo: 'hello 1', remaining: 4 });
    expect(replies[5]).toEqual({ error: 'Slow down', retryAfterMs: expect.any(Number) });

    first.terminate();
    const canOpen = () => {
      const next = open();
      return new Promise<boolean>((resolve, reject) => {
        next.once('open', () => resolve(true)).once('unexpected-response', () => resolve(false));
        next.on('error', reject);
      }).finally(() => next.terminate());
    };
    await until('the slot is free', canOpen);

    for (let turn = 0; turn < 5; turn++) {
      const reset = connect(Number(new URL(url).port)).on('error', () => {});
      await once(reset, 'connect');
      reset.write('GET / HTTP/1.1\r\nHost: here\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
      reset.resetAndDestroy(); // Node then often knows no address of the client.
    }
    await until('the server has survived connections that were reset', canOpen);
  });
});

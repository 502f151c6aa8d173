import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { io, type Socket } from 'socket.io-client';
import { startTogether } from './support/example-server.js';

let servers: Awaited<ReturnType<typeof startTogether>>;
let [mcp, trpc, yoga, socketIo, betterAuth]: string[] = [];
beforeAll(async () => {
  const programs = ['mcp.ts', 'trpc.ts', 'graphql-yoga.ts', 'socket-io.ts', 'better-auth.ts'];
  servers = await startTogether(programs, { LIMIT: '10' });
  [mcp, trpc, yoga, socketIo, betterAuth] = servers.urls;
});
afterAll(() => servers?.stop());

/** Different for each request, as a client that forges its address would send it. */
const forged = (turn: number) => ({ 'X-Forwarded-For': `203.0.113.${turn}` });

describe('mcp.ts', () => {
  test('rejects a tool with a result for the model, and the endpoint with a JSON-RPC error', async () => {
    const client = new Client({ name: 'test', version: '1.0.0' });
    const transport = new StreamableHTTPClientTransport(new URL(`${mcp}/mcp`));
    await client.connect(transport as never);
    const results: unknown[] = [];
    for (let turn = 0; turn < 3; turn++) {
      results.push(await client.callTool({ name: 'search', arguments: { title: 'Emma' } }));
    }
    const found = { content: [{ type: 'text', text: 'One book: Emma' }] };
    const text = expect.stringMatching(/^Rate limit exceeded: try again in \d+ seconds$/);
    expect(results).toEqual([found, found, { isError: true, content: [{ type: 'text', text }] }]);

    expect(await client.listTools()).toMatchObject({ tools: [{ name: 'search' }] });
    // The client has also sent requests to connect.
    const lists = Promise.all(Array.from({ length: 10 }, () => client.listTools()));
    await expect(lists).rejects.toThrow('"message":"Rate limit exceeded"');
    await client.close();
  });

  test('does not trust X-Forwarded-For', async () => {
    expect((await fetch(`${mcp}/mcp`, { method: 'POST', headers: forged(1) })).status).toBe(429);
  });
});

describe('trpc.ts', () => {
  test('rejects a procedure over its limit, for a client that forges its address', async () => {
    const responses: Response[] = [];
    for (let turn = 0; turn < 3; turn++) responses.push(await fetch(`${trpc}/report`, { headers: forged(turn) }));
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 429]);
    expect(Number(responses[2]!.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await responses[2]!.json()).toMatchObject({
      error: { data: { code: 'TOO_MANY_REQUESTS', httpStatus: 429, path: 'report' } },
    });
  });

  test('counts each call of a batch', async () => {
    const response = await fetch(`${trpc}/hello,report?batch=1`);
    expect(response.status).toBe(207);
    expect(await response.json()).toEqual([
      { result: { data: 'hello 127.0.0.1' } },
      expect.objectContaining({ error: expect.objectContaining({ message: expect.stringMatching(/^Rate limit/) }) }),
    ]);
  });

  test('rejects a call in a stream, whose status is 200', async () => {
    const response = await fetch(`${trpc}/hello,report?batch=1`, { headers: { 'trpc-accept': 'application/jsonl' } });
    expect(response.status).toBe(200);
    const text = await response.text();
    expect(text).toContain('hello 127.0.0.1');
    expect(text).toContain('TOO_MANY_REQUESTS');
  });
});

test('graphql-yoga.ts counts fields, so no alias, fragment or forged address evades the limit', async () => {
  const aliases = (count: number) => Array.from({ length: count }, (_, turn) => `f${turn}: book(title: "Emma")`);
  /** Selects three fields for each book. */
  const query = async (books: number, turn: number) =>
    fetch(`${yoga}/graphql`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...forged(turn) },
      body: JSON.stringify({
        query: `{ ${aliases(books).join(' { ...outer } ')} { ...outer } }
          fragment outer on Book { title ...inner }
          fragment inner on Book { pages }`,
      }),
    });
  const emma = { title: 'Emma', pages: 300 };
  expect(await (await query(250, 1)).json()).toMatchObject({ data: { f0: emma, f249: emma } });
  const rejected = await query(84, 2);
  expect(rejected.status).toBe(429);
  expect(Number(rejected.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(await rejected.json()).toMatchObject({
    errors: [{ extensions: { code: 'RATE_LIMIT_EXCEEDED', retryAfterMs: expect.any(Number) } }],
  });
  expect((await query(83, 3)).status).toBe(200);
  expect((await query(334, 4)).headers.get('retry-after')).toBeNull();
});

describe('socket-io.ts', () => {
  const sockets: Socket[] = [];
  afterEach(() => sockets.splice(0).map((socket) => socket.disconnect()));

  const open = (turn: number) =>
    new Promise<string>((resolve) => {
      const socket = io(socketIo!, { forceNew: true, transports: ['websocket'], extraHeaders: forged(turn) });
      sockets.push(socket);
      socket.on('connect', () => resolve('connected'));
      socket.on('connect_error', ({ message }) => resolve(message));
    });

  test('limits open connections, and those that close make room', async () => {
    for (let turn = 0; turn < 5; turn++) expect(await open(turn)).toBe('connected');
    expect(await open(5)).toBe('Too many connections');
    sockets[0]!.disconnect();
    let state = '';
    while (state !== 'connected') state = await open(6);
  });

  test('rejects messages over the limit in their acknowledgement', async () => {
    let state = '';
    while (state !== 'connected') state = await open(0);
    const replies: object[] = [];
    for (let turn = 0; turn < 11; turn++) replies.push(await sockets.at(-1)!.emitWithAck('message', 'hello'));
    expect(replies.slice(0, 10)).toEqual(new Array(10).fill({ ok: true }));
    expect(replies[10]).toEqual({ error: 'RATE_LIMIT_EXCEEDED', retryAfterMs: expect.any(Number) });
  });
});

test('better-auth.ts allows three of ten parallel sign-ins, and reports the wait', async () => {
  const signIn = () =>
    fetch(`${betterAuth}/api/auth/sign-in/email`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'X-Client-IP': '203.0.113.7' },
      body: JSON.stringify({ email: 'ann@example.com', password: 'guess' }),
    });
  const responses = await Promise.all(Array.from({ length: 10 }, signIn));
  expect(responses.map(({ status }) => status).sort()).toEqual([401, 401, 401, ...Array(7).fill(429)]);
  expect(responses.find(({ status }) => status === 429)!.headers.get('x-retry-after')).toBe('10');
});

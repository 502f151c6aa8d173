import { on, once } from 'node:events';
import { attackHosts } from '@rollgate/host-tests/attack-hosts';
import { type HostProcess, startNestHosts } from '@rollgate/host-tests/start-hosts';
import { WebSocket } from 'ws';

let hosts: HostProcess;
beforeAll(async () => {
  hosts = await startNestHosts();
});
afterAll(() => hosts?.stop());

describe('a gateway', () => {
  let socket: WebSocket;
  beforeAll(async () => {
    socket = new WebSocket(`ws://127.0.0.1:${hosts.ports.gateway}`);
    await once(socket, 'open');
  });
  afterAll(() => socket?.terminate());

  const send = (event: string) => socket.send(JSON.stringify({ event, data: 'text' }));
  async function sendEvent(event: string): Promise<{ event: string; data: Record<string, unknown> }> {
    send(event);
    const [message] = await once(socket, 'message');
    return JSON.parse(String(message));
  }

  test('counts each message once, even if APP_GUARD and @UseGuards both apply', async () => {
    // `kept`: a connection has any number of messages, so nothing but the last decision may stay on it.
    for (const remaining of [2, 1, 0])
      expect(await sendEvent('chat')).toEqual({ event: 'accepted', data: { remaining, kept: [] } });
    const rejected = await sendEvent('chat');
    expect(rejected.event).toBe('exception');
    expect(JSON.stringify(rejected.data)).toContain('"code":"RATE_LIMIT_EXCEEDED"');
  });

  test('counts each message of slow and leaving clients once', () => {
    const name = 'Nest over WebSockets';
    return attackHosts({ [name]: hosts.ports[name]! });
  });

  test('counts messages by address, on all connections', async () => {
    const other = new WebSocket(`ws://127.0.0.1:${hosts.ports.gateway}`);
    await once(other, 'open');
    other.send(JSON.stringify({ event: 'chat', data: {} }));
    const [message] = await once(other, 'message');
    expect(JSON.parse(String(message)).event).toBe('exception');
    other.terminate();
  });

  test('passes each of its messages the decision about that message, even if all arrive at once', async () => {
    const received = on(socket, 'message');
    for (const event of ['decided', 'decided', 'decided', 'undecided']) send(event);
    const replies: Record<string, unknown>[] = [];
    for (let turn = 0; turn < 4; turn++) {
      const { value } = await received.next();
      replies.push(JSON.parse(String(value[0])).data);
    }
    await received.return?.();
    const decided = [8, 7, 6].map((remaining) => ({ remaining, text: 'text' }));
    expect(replies).toEqual(expect.arrayContaining([...decided, { hasDecision: false }]));
  });

  test.each(['settled', 'intercepted'])('settles a message by its context (%s)', async (event) => {
    for (let turn = 0; turn < 2; turn++) expect((await sendEvent(event)).event).toBe(event);
  });

  test('delays messages in a queue until their start', async () => {
    const received = on(socket, 'message');
    send('queued');
    send('queued');
    const times: number[] = [];
    for (let turn = 0; turn < 2; turn++) {
      const { value } = await received.next();
      times.push(JSON.parse(String(value[0])).data.at);
    }
    await received.return?.();
    expect(times[1]! - times[0]!).toBeGreaterThan(100);
  });

  test('does not accept slots, because no code would release them', async () => {
    for (let turn = 0; turn < 2; turn++) expect((await sendEvent('slots')).event).toBe('exception');
  });

  test('does not warn', async () => {
    expect((await sendEvent('warnings')).data).toEqual([]);
  });
});

describe('a GraphQL operation', () => {
  async function query(client: string, text: string) {
    const response = await fetch(`http://127.0.0.1:${hosts.ports.graphql}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-client': client },
      body: JSON.stringify({ query: text }),
    });
    return { headers: response.headers, body: (await response.json()) as { data: object; errors?: object[] } };
  }

  test('has the headers of the limit, and the decision on the request', async () => {
    const { headers, body } = await query('ann', '{ book }');
    expect(body).toEqual({ data: { book: '1 remain' } });
    expect(headers.get('x-ratelimit-remaining')).toBe('1');
  });

  test('passes each of its fields the decision about that field', async () => {
    const { body } = await query('ivy', '{ a: decided b: decided }');
    expect(body).toEqual({ data: { a: '1 remain', b: '0 remain' } });
  });

  test('is rejected with an error that has the code and the status', async () => {
    await query('bob', '{ book }');
    await query('bob', '{ book }');
    const { headers, body } = await query('bob', '{ book }');
    expect(body.errors).toEqual([
      expect.objectContaining({
        message: expect.stringMatching(/^Rate limit exceeded: try again in \d+ seconds$/),
        path: ['book'],
        extensions: {
          code: 'RATE_LIMIT_EXCEEDED',
          statusCode: 429,
          error: 'Too Many Requests',
          retryAfterMs: expect.any(Number),
        },
      }),
    ]);
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(3500);
  });

  test('counts each of its fields, so aliases do not evade the limit', async () => {
    const { body } = await query('eve', '{ a: book b: book c: book }');
    expect(body.errors).toHaveLength(1);
    expect((await query('eve', '{ book }')).body.errors).toHaveLength(1);
    expect((await query('eve', '{ warnings }')).body.data).toEqual({ warnings: '' });
  });

  test('keeps its content type when a rejection contains problem details', async () => {
    await query('dan', '{ problem }');
    const { headers, body } = await query('dan', '{ problem }');
    expect(headers.get('content-type')).toMatch(/^application\/json/);
    expect(body.errors).toEqual([
      expect.objectContaining({
        extensions: expect.objectContaining({ code: 'RATE_LIMIT_EXCEEDED', 'violated-policies': ['default'] }),
      }),
    ]);
  });

  test('has a text of the option `message` as its message', async () => {
    await query('hal', '{ texted }');
    const { body } = await query('hal', '{ texted }');
    expect(body.errors).toEqual([
      expect.objectContaining({
        message: 'Slow down',
        extensions: expect.objectContaining({ code: 'RATE_LIMIT_EXCEEDED', statusCode: 429 }),
      }),
    ]);
  });

  test('can be settled', async () => {
    for (let turn = 0; turn < 2; turn++) {
      expect((await query('fay', '{ free }')).body).toEqual({ data: { free: 'refunded' } });
      expect((await query('fay', '{ intercepted }')).body).toEqual({ data: { intercepted: 'a book' } });
    }
  });

  test('has one listener for the end of its response, however many fields may be refunded', async () => {
    const fields = Array.from({ length: 12 }, (_, index) => `f${index}: refunded`);
    expect((await query('gil', `{ ${fields.join(' ')} }`)).body.errors).toBeUndefined();
    expect((await query('gil', '{ warnings }')).body.data).toEqual({ warnings: '' });
  });
});

describe('a GraphQL operation over a WebSocket', () => {
  let socket: WebSocket;
  let messages: AsyncIterator<unknown[]>;
  beforeAll(async () => {
    socket = new WebSocket(`ws://127.0.0.1:${hosts.ports.graphql}/graphql`, 'graphql-transport-ws', {
      headers: { 'x-client': 'socket' },
    });
    messages = on(socket, 'message');
    await once(socket, 'open');
    socket.send(JSON.stringify({ type: 'connection_init' }));
    await messages.next();
  });
  afterAll(() => socket?.terminate());

  /** Returns the first result of an operation. */
  async function run(id: string, query: string): Promise<{ data?: object; errors?: object[] }> {
    socket.send(JSON.stringify({ id, type: 'subscribe', payload: { query } }));
    for (;;) {
      const { value } = await messages.next();
      const message = JSON.parse(String(value[0]));
      if (message.id === id && message.type !== 'complete') return message.payload;
    }
  }

  test('is settled by its context, and leaves nothing on the request of the WebSocket', async () => {
    for (const id of ['1', '2', '3']) {
      expect(await run(id, '{ settled }')).toMatchObject({ data: { settled: '0 kept' } });
    }
  });

  test('may be a subscription', async () => {
    expect(await run('4', 'subscription { published }')).toEqual({ data: { published: 'a book' } });
    expect(JSON.stringify(await run('5', 'subscription { published }'))).toContain('RATE_LIMIT_EXCEEDED');
  });
});

describe('a route', () => {
  const get = async (path: string) => fetch(`http://127.0.0.1:${hosts.ports.routes}/${path}`);
  const status = async (path: string) => (await get(path)).status;
  const used = async (prefix: string) => Number(await (await get(`used/${encodeURIComponent(prefix)}`)).text());

  test('has its own count even if a decorator has replaced its method', async () => {
    expect([await status('wrapped/a'), await status('wrapped/b'), await status('wrapped/a')]).toEqual([200, 200, 429]);
    expect([await used('rollgate:WrappedController.a'), await used('rollgate:WrappedController.b')]).toEqual([1, 1]);
  });

  test('has its own count next to that of a controller with the same name', async () => {
    expect([await status('v1/users'), await status('v2/users'), await status('v1/users')]).toEqual([200, 200, 429]);
    expect(await used('rollgate:UsersController@RoutesModule v1/users.list')).toBe(1);
    expect(await used('rollgate:UsersController@RoutesModule v2/users.list')).toBe(1);
  });

  test('is settled by its context', async () => {
    expect([await status('settled'), await status('settled')]).toEqual([200, 200]);
  });

  test('has the same count as before if no other route has its name', async () => {
    expect(await status('v1/users/unique')).toBe(200);
    expect(await used('rollgate:UsersController.unique')).toBe(1);
  });
});

describe('an account', () => {
  const get = async (path: string) => {
    const response = await fetch(`http://127.0.0.1:${hosts.ports.routes}/account/${path}`);
    return [response.status, await response.text()];
  };

  test('is unlocked by another route, and its handlers get the decision', async () => {
    expect(await get('login')).toEqual([200, '{"remaining":0}']);
    expect(await get('login')).toEqual([429, expect.any(String)]);
    expect(await get('unlock')).toEqual([200, '{"hasDecision":false,"isLimited":false}']);
    expect(await get('login')).toEqual([200, '{"remaining":0}']);
  });

  test('has no limiter of an unknown method', async () => {
    // The bundler may have added the underscore.
    const expected = /^TypeError: Expected `method` to be the name of a method of _?AccountController, got "logout"/;
    expect(await get('unknown')).toEqual([200, expect.stringMatching(expected)]);
  });
});

test('an app with invalid options of a decorator does not start, and the error names the class and the method', async () => {
  const response = await fetch(`http://127.0.0.1:${hosts.ports.routes}/starts`);
  expect(await response.json()).toEqual([
    expect.stringMatching(
      /^TypeError: @RateLimit of WrongController\.search: Expected `limit` to be .*, got -1 \(number\)/,
    ),
    expect.stringMatching(/^TypeError: @RateLimit of WrongController\.search: Expected `key` to be a function/),
    expect.stringMatching(/^TypeError: @RateLimit of WrongController: Expected `window` to be /),
    expect.stringMatching(
      /^TypeError: @RateLimit of WrongController\.search: Expected `limit` to be .*, got undefined/,
    ),
    expect.stringMatching(/^TypeError: @RateLimit of WrongController: Expected `limit` to be .*, got undefined/),
    'started',
    'TypeError: Expected `RateLimitModule options` to be an object, got undefined',
  ]);
});

test('an exception filter of the app gets a rejection with a message as an exception', async () => {
  const get = () => fetch(`http://127.0.0.1:${hosts.ports.routes}/filtered`);
  await get();
  const rejected = await get();
  expect([rejected.status, await rejected.json()]).toEqual([
    503,
    { response: 'Slow down', message: 'Slow down', violated: ['default'] },
  ]);
});

test('a message of a microservice fails with a clear error, and its payload stays as it is', async () => {
  const response = await fetch(`http://127.0.0.1:${hosts.ports.routes}/message`);
  const expected = expect.stringMatching(/^TypeError: Expected an HTTP request, .* got a message of a microservice/);
  expect(await response.json()).toEqual({ payload: { id: 7 }, errors: [expected, expected] });
});

test('a request of Fastify has the decision, and null without one', async () => {
  const get = async (path: string) => (await fetch(`http://127.0.0.1:${hosts.ports.fastify}/${path}`)).json();
  expect(await get('limited')).toEqual({ rateLimit: 8, decision: 8 });
  expect(await get('skipped')).toEqual({ rateLimit: null, isUndefined: true });
});

// At the end, because other tests expect a process without warnings.
const UNTRUSTED = { codes: ['ROLLGATE_UNTRUSTED_PROXY'], remaining: [8, 7, 6, 5] };
const TRUSTED = { codes: [], remaining: [8, 8, 8, 8] };
const EVERY = { codes: ['ROLLGATE_TRUSTS_EVERY_PROXY'], remaining: [8, 8, 8, 8] };

test.each([
  ['Express', 'false, 0, -1, "0", "10.0.0.1"', UNTRUSTED],
  ['Express', '"loopback", 1', TRUSTED],
  ['Express', 'true', EVERY],
  // Fastify ignores a number.
  ['Fastify', 'false, 1, -1, "0", "10.0.0.1"', UNTRUSTED],
  ['Fastify', '"127.0.0.1"', TRUSTED],
  ['Fastify', 'true', EVERY],
])(
  'an app over %s with a trust setting of %s warns if all clients share a limit, or can forge their address',
  async (platform, settings, expected) => {
    const url = `http://127.0.0.1:${hosts.ports.routes}/proxies/${platform}/${encodeURIComponent(`[${settings}]`)}`;
    const found = (await (await fetch(url)).json()) as object[];
    expect(found).toEqual(found.map(() => expected));
    expect(found).toHaveLength(settings.split(',').length);
  },
);

test('requests without an `ip` count by the address of their connection', async () => {
  const response = await fetch(`http://127.0.0.1:${hosts.ports.routes}/without-ip`);
  expect(await response.json()).toEqual([200, 429, 200]);
});

import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { RateLimiter, rollingWindow } from '@rollgate/core';
import { type PostgresClient, PostgresStore } from '@rollgate/postgres';
import { FaultyProxy, PostgresServer, until } from '@rollgate/test-support';
import { flushPromises } from '@rollgate/test-support/flush-promises';
import { silenceOutages } from '@rollgate/test-support/silence-outages';
import { Pool } from 'pg';
import postgres from 'postgres';

silenceOutages();

describe('lost connections', () => {
  const ends: (() => Promise<unknown>)[] = [];
  afterAll(async () => {
    for (const end of ends.reverse()) await end();
  });

  let server: PostgresServer;
  let admin: Pool;
  beforeAll(async () => {
    server = await PostgresServer.start({ fsync: 'off' });
    ends.push(() => server.stop());
    admin = openPool(server.url);
    await new PostgresStore({ client: admin }).createTable();
  });

  function openPool(connectionString: string, max = 2): Pool {
    const pool = new Pool({ connectionString, max });
    pool.on('error', () => {}); // Tests end connections.
    ends.push(() => pool.end().catch(() => {}));
    return pool;
  }

  const clients: Record<string, (url: string, max: number) => PostgresClient> = {
    pg: openPool,
    'Postgres.js': (url, max) => {
      const sql = postgres(url, { max, fetch_types: false, onnotice: () => {} });
      ends.push(() => sql.end({ timeout: 0 }));
      return sql;
    },
  };

  const limits = rollingWindow({ limit: 1_000_000, window: '1h' });
  const limiterOn = (client: PostgresClient) =>
    new RateLimiter({ limits, store: new PostgresStore({ client }), timeout: '1m', onStoreError: 'throw' });

  /** A message of PostgreSQL's protocol. */
  function message(type: string, body: Buffer): Buffer {
    const head = Buffer.alloc(5, type);
    head.writeInt32BE(body.length + 4, 1);
    return Buffer.concat([head, body]);
  }

  /** Begins a session, and ends it in the same packet, as a server that shuts down does. */
  const SESSION_THAT_ENDS = Buffer.concat([
    message('R', Buffer.alloc(4)),
    message('Z', Buffer.from('I')),
    message('E', Buffer.from('SFATAL\0VFATAL\0C57P01\0Mterminating connection\0\0')),
  ]);

  async function listen(tcp: Server): Promise<number> {
    await once(tcp.listen(0, '127.0.0.1'), 'listening');
    ends.push(async () => tcp.close());
    return (tcp.address() as AddressInfo).port;
  }

  test.each(Object.keys(clients))(
    'with %s, a connection that ends right after its start fails the check',
    async (kind) => {
      const port = await listen(createServer((socket) => socket.once('data', () => socket.end(SESSION_THAT_ENDS))));
      const limiter = limiterOn(clients[kind]!(`postgres://rollgate@127.0.0.1:${port}/postgres`, 1));
      for (let check = 0; check < 3; check++) await expect(limiter.check('ann')).rejects.toThrow('The store failed');
    },
  );

  test.each(Object.keys(clients))('with %s, checks work again after lost connections', async (kind) => {
    const limiter = limiterOn(clients[kind]!(server.url, 1));
    for (let loss = 0; loss < 5; loss++) {
      const before = await limiter.peek('ann');
      const lock = await admin.connect();
      await lock.query('BEGIN; LOCK TABLE rollgate IN ACCESS EXCLUSIVE MODE');
      const check = limiter.check('ann').catch((error: unknown) => error);
      await until('the backend of the check has ended', async () => {
        const waiting = "datname = 'postgres' AND wait_event_type = 'Lock'";
        const ended = await admin.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE ${waiting}`);
        return ended.rows.length > 0;
      });
      expect(await check).toMatchObject({ code: 'ERR_ROLLGATE_STORE_FAILED' });
      await lock.query('ROLLBACK');
      lock.release();
      await until('a check is decided', async () => (await limiter.check('ann').catch(() => undefined)) !== undefined);
      expect((await limiter.check('ann')).remaining).toBe(before.remaining - 2);
    }
  });

  test.each(Object.keys(clients))(
    'with %s, an attempt to connect without a response stops no later check',
    async (kind) => {
      const proxy = await FaultyProxy.start(server.port);
      ends.push(() => proxy.stop());
      // The store's deadline for a connection.
      const start = setTimeout;
      const shorten = (callback: () => void, ms: number) => start(callback, ms === 5000 ? 500 : ms);
      jest.spyOn(globalThis, 'setTimeout').mockImplementation(shorten as typeof setTimeout);
      try {
        proxy.freeze();
        const url = server.url.replace(`:${server.port}`, `:${proxy.port}`);
        const client = clients[kind]!(url, 2);
        const limiter = limiterOn(client);
        await expect(limiter.check('bob')).rejects.toThrow('PostgreSQL gave no connection within 5000 ms');
        proxy.redirect(server.port);
        proxy.thaw();
        await until(
          'a check is decided',
          async () => (await limiter.check('bob').catch(() => undefined)) !== undefined,
        );
      } finally {
        jest.restoreAllMocks();
      }
    },
  );
});

describe('silent connections', () => {
  /** What the clients did. */
  let events: string[] = [];
  /** Ends the silence of the first connection. */
  let respond: (error: Error) => void;
  let connections = 0;

  beforeEach(() => {
    events = [];
    connections = 0;
    // The store's deadline, and no timer of a limiter or of Jest.
    const start = setTimeout;
    jest
      .spyOn(globalThis, 'setTimeout')
      .mockImplementation(((callback: () => void, ms: number) =>
        start(callback, ms === 10_000 ? 1 : ms)) as typeof setTimeout);
  });
  afterEach(() => jest.restoreAllMocks());

  /** Returns what a connection does with a text. The first connection is silent, and the others fail. */
  function createConnection(): (text: string) => Promise<unknown> {
    const name = ++connections;
    return (text) => {
      events.push(`${name} ${text.split(' ')[0]}`);
      if (name > 1) return Promise.reject(new Error('Closed'));
      if (text === 'ROLLBACK') return Promise.resolve(Object.assign([], { command: 'ROLLBACK' }));
      return new Promise((_, reject) => {
        respond = reject;
      });
    };
  }

  const clients: Record<string, () => unknown> = {
    pg: () => ({
      ...{ query() {}, end() {}, totalCount: 0 },
      connect(callback: (error: undefined, client: object) => void) {
        const run = createConnection();
        const name = connections;
        callback(undefined, {
          ...{ query: ({ text }: { text: string }) => run(text), on() {}, removeListener() {} },
          release: (destroy = false) => events.push(`${name} ${destroy ? 'closed' : 'released'}`),
        });
      },
    }),
    'Postgres.js': () =>
      Object.assign(() => {}, {
        ...{ options: { max: 1 }, listen() {} },
        unsafe: () => ({ simple: async () => [] }),
        async reserve() {
          const run = createConnection();
          const name = connections;
          return {
            unsafe: (text: string) => ({ simple: () => run(text) }),
            release: () => events.push(`${name} released`),
          };
        },
      }),
  };

  /** What the server reports of a statement. Its connection stays open. */
  const failed = Object.assign(new Error('canceling statement'), { severity: 'ERROR' });
  const reset = new Error('read ECONNRESET');

  test.each([
    ['pg', failed, ['1 BEGIN', '1 closed', '2 BEGIN'], []],
    ['Postgres.js', failed, ['1 BEGIN', '2 BEGIN'], ['1 ROLLBACK', '1 released']],
    ['Postgres.js', reset, ['1 BEGIN', '2 BEGIN'], []],
  ])(
    'with %s, the next check after a silent connection uses another one: %s',
    async (kind, response, untilNext, afterResponse) => {
      const store = new PostgresStore({ client: clients[kind]!() as PostgresClient });
      const limits = rollingWindow({ limit: 1, window: '1h' });
      const limiter = new RateLimiter({ limits, store, onStoreError: 'throw' });
      await expect(limiter.check('ann')).rejects.toThrow('did not respond within 10000 ms');
      await expect(limiter.check('ann')).rejects.toThrow('Closed');
      expect(events.slice(0, untilNext.length)).toEqual(untilNext);
      await flushPromises();
      respond(response);
      await flushPromises();
      expect(events.filter((event) => event.startsWith('1')).slice(untilNext.length - 1)).toEqual(afterResponse);
    },
  );
});

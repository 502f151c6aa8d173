import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { json } from 'node:stream/consumers';
import { RedisServer } from '@rollgate/test-support';
import { toHost } from '../src/server/allowed-hosts.js';
import { describeFailure } from '../src/server/store.js';
import { runToEnd, Server } from './support/server.js';

let server: Server;
beforeAll(async () => {
  server = await Server.start({ HOST: 'Demo.example:8443' });
});
afterAll(() => server.end());

const port = () => new URL(server.url).port;

test('the program says what Rollgate is and what to try, and ends on a signal', async () => {
  const other = await Server.start();
  expect(other.greeting).toContain('Rollgate is a rate limiter for Node, Bun, Deno and Workers.');
  expect(other.greeting).toContain(`curl -i -X POST ${other.url}/hit`);
  expect(other.greeting).toContain('https://rollgate-js.github.io/rollgate');
  expect(await other.end('SIGTERM')).toBe(0);
  await expect(fetch(other.url)).rejects.toThrow();
});

test.each([
  [{ PORT: '65536' }, 'Expected `PORT` to be a number from 0 to 65535, got "65536" (string)'],
  [{ REDIS_URL: 'localhost' }, 'Expected `REDIS_URL` to be a URL such as redis://localhost:6379, got "localhost"'],
  [
    { PORT: '0', REDIS_URL: 'redis://user:secret@127.0.0.1:1' },
    'Could not start on the Redis of 127.0.0.1:1. Nothing listens there. Start Redis, or correct the host and port',
  ],
  [{ HOST: 'demo.example/path' }, 'Expected `HOST` to be a host with an optional port, such as demo.example:8443'],
])('%j is an error that says what to do', async (env, text) => {
  const { code, output } = await runToEnd(env);
  expect(code).toBe(1);
  expect(output).toContain(text);
  expect(output).not.toContain('secret');
});

test('a host with a space is an error', () => {
  expect(() => toHost('a b')).toThrow('got "a b" (string)');
});

test('a port that is in use is an error', async () => {
  const { code, output } = await runToEnd({ PORT: port() });
  expect(code).toBe(1);
  expect(output).toMatch(/^Port \d+ is in use\. Choose another one, as in PORT=\d+ npm run demo\n$/);
});

test('requests go through the real middleware, and each client has its own quota', async () => {
  const query = '?limit=2&windowMs=60000&client=';
  const statuses = [];
  for (const client of ['ann', 'ann', 'ann', 'bob']) statuses.push((await server.hit(query + client)).status);
  expect(statuses).toEqual([200, 200, 429, 200]);
  const rejected = await server.hit(`${query}ann`);
  expect(Number(rejected.headers.get('retry-after'))).toBeGreaterThan(50);
  expect(rejected.headers.get('ratelimit-policy')).toBe('"default";q=2;w=60');
  const changed = await server.hit('?algorithm=token&limit=3&windowMs=60000&client=ann');
  expect(changed.headers.get('ratelimit-policy')).toContain('q=3');
});

test.each([
  ['algorithm=sliding', /Expected `algorithm` to be one of .*leaky, got sliding/],
  ['algorithm=constructor', /Expected `algorithm`/],
  ['limit=0', 'Expected `limit` to be an integer from 1 to 1000, got 0'],
  ['limit=ten', 'Expected `limit` to be an integer from 1 to 1000, got NaN'],
  ['windowMs=1999', 'Expected `windowMs` to be an integer from 2000 to 60000, got 1999'],
  ['minDifferenceMs=0.5', 'Expected `minDifferenceMs` to be an integer from 0 to 5000, got 0.5'],
])('the settings %s are rejected', async (query, detail) => {
  const response = await server.hit(`?${query}`);
  expect(response.status).toBe(400);
  expect(response.headers.get('content-type')).toContain('application/problem+json');
  expect(await response.json()).toEqual({ status: 400, detail: expect.stringMatching(detail) });
});

test('an unknown path is not found', async () => {
  const response = await fetch(`${server.url}/nothing`);
  expect([response.status, await response.json()]).toEqual([404, { status: 404, detail: expect.any(String) }]);
});

describe('the names of the server', () => {
  const named = (headers: object) =>
    Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value).replace('PORT', port())]));

  async function send(path: string, headers: object): Promise<IncomingMessage> {
    const sent = request(`${server.url}${path}`, { method: 'POST', headers: named(headers) });
    const [response] = (await once(sent.end(), 'response')) as [IncomingMessage];
    return response;
  }

  test.each([
    [{ Origin: 'https://evil.example' }],
    [{ Origin: 'http://localhost:1' }], // Another program on this machine.
    [{ Origin: 'http://evil.example:PORT' }],
    [{ Origin: 'null' }],
    [{ Origin: 'what is this' }],
    [{ Host: 'evil.example:PORT' }],
    [{ Host: 'evil.example:PORT', Origin: 'http://evil.example:PORT' }],
    [{ Host: 'localhost' }],
    [{ Host: 'localhost:PORT.evil.example' }],
  ])('a page of another site, or one whose name points to this machine, is rejected: %j', async (headers) => {
    for (const path of ['/hit', '/']) {
      const response = await send(path, headers);
      expect(response.statusCode).toBe(403);
      expect(await json(response)).toMatchObject({
        detail: expect.stringMatching(/^Expected `(Host|Origin)` to be .*`HOST`/),
      });
    }
  });

  test.each([
    [{}],
    [{ Host: 'localhost:PORT' }],
    [{ Host: 'LOCALHOST:PORT', Origin: 'http://localhost:PORT' }],
    [{ Host: '127.0.0.1:PORT', Origin: 'http://127.0.0.1:PORT' }],
    [{ Host: '[::1]:PORT', Origin: 'http://[::1]:PORT' }],
    [{ Host: 'demo.example:8443', Origin: 'https://demo.example:8443' }], // What HOST names.
  ])('the own names are served: %j', async (headers) => {
    expect((await send('/hit?client=named', headers)).resume().statusCode).toBe(200);
  });
});

test('servers on one Redis share the quota, and decide without it while it is stopped', async () => {
  const redis = await RedisServer.start();
  const servers = await Promise.all([1, 2].map(() => Server.start({ REDIS_URL: redis.url })));
  try {
    expect(servers[0]!.greeting).toContain(`on the Redis of ${redis.host}:${redis.port}`);
    const query = '?limit=3&windowMs=60000&client=ann';
    const statuses = [];
    for (const each of [...servers, ...servers]) statuses.push((await each.hit(query)).status);
    expect(statuses).toEqual([200, 200, 200, 429]);
    await redis.stop();
    expect(await (await servers[0]!.hit('?client=eve')).json()).toEqual({ allowed: true, store: 'memory' });
  } finally {
    await Promise.all(servers.map((each) => each.end()));
    await redis.stop();
  }
});

test.each([
  [Object.assign(new Error('connect ECONNREFUSED ::1:1'), { code: 'ECONNREFUSED' }), /^Nothing listens there\. /],
  [Object.assign(new Error('getaddrinfo'), { code: 'ENOTFOUND' }), /^The host is unknown\. /],
  [new Error('WRONGPASS invalid username-password pair'), /^Redis requires another user name or password\. /],
  [new Error('ERR DB index is out of range'), /^Redis has no such database\. /],
  [new Error('Command timed out'), /^Redis did not respond as expected within 3 s\. /],
])('%s at the start comes with advice instead of the text of the client', (error, advice) => {
  expect(describeFailure(new Error('Reached the max retries per request limit'), error)).toMatch(advice);
});

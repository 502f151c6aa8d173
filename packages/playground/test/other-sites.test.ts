import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { json } from 'node:stream/consumers';
import { runToEnd, Server } from './support/server.js';

let server: Server;
beforeAll(async () => {
  server = await Server.start({ HOST: 'Demo.example:8443' });
});
afterAll(() => server.end());

/** Sends a request with these headers, of which a browser chooses `Host` and `Origin` itself. */
async function send(method: string, path: string, headers: Record<string, string>): Promise<IncomingMessage> {
  const [response] = (await once(request(`${server.url}${path}`, { method, headers }).end(), 'response')) as [
    IncomingMessage,
  ];
  return response;
}

const port = () => new URL(server.url).port;
const named = (template: string) => template.replace('PORT', port());

describe('a page of another site, or one whose name points to this machine', () => {
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
  ])('changes and reads nothing: %j', async (template) => {
    const headers = Object.fromEntries(Object.entries(template).map(([name, value]) => [name, named(value)]));
    await server.begin({ limit: 7 });
    await server.hit();
    const before = await server.records();
    for (const [method, path] of [
      ['POST', '/reset'],
      ['POST', '/hit'],
      ['PUT', '/settings'],
      ['GET', '/records'],
      ['GET', '/events'],
      ['GET', '/'],
    ] as const) {
      const response = await send(method, path, headers);
      expect([path, response.statusCode]).toEqual([path, 403]);
      const { detail } = (await json(response)) as { detail: string };
      expect(detail).toMatch(/^Expected `(Host|Origin)` to be .*`HOST`/);
    }
    expect(await server.records()).toEqual(before);
  });
});

test.each([
  [{}],
  [{ Host: 'localhost:PORT' }],
  [{ Host: 'LOCALHOST:PORT', Origin: 'http://localhost:PORT' }],
  [{ Host: '127.0.0.1:PORT', Origin: 'http://127.0.0.1:PORT' }],
  [{ Host: '[::1]:PORT', Origin: 'http://[::1]:PORT' }],
  [{ Host: 'demo.example:8443', Origin: 'https://demo.example:8443' }], // What HOST names.
])('the playground by its own names is served: %j', async (template) => {
  const headers = Object.fromEntries(Object.entries(template).map(([name, value]) => [name, named(value)]));
  const response = await send('POST', '/reset', headers);
  expect(response.resume().statusCode).toBe(204);
});

test.each(['demo.example/path', 'a b'])('HOST=%s is rejected with a message', async (HOST) => {
  const { code, output } = await runToEnd({ PORT: '0', HOST });
  expect(code).toBe(1);
  expect(output).toBe(
    `Expected \`HOST\` to be a host with an optional port, such as demo.example:8443, got ${JSON.stringify(HOST)} (string)\n`,
  );
});

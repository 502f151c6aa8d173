import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { FaultyProxy, RedisServer, until } from '@rollgate/test-support';

let server: RedisServer;
let proxy: FaultyProxy;
const clients: Client[] = [];
beforeAll(async () => {
  server = await RedisServer.start();
});
beforeEach(async () => {
  proxy = await FaultyProxy.start(server.port);
});
afterEach(async () => {
  for (const { socket } of clients.splice(0)) socket.destroy();
  await proxy.stop();
  await server.run('FLUSHALL');
});
afterAll(() => server.stop());

/** A connection through the proxy, and what has come over it. */
interface Client {
  readonly socket: Socket;
  readonly closed: Promise<unknown>;
  heard: string;
}

async function open(): Promise<Client> {
  const socket = connect(proxy.port, '127.0.0.1');
  const client: Client = { socket, closed: new Promise((resolve) => socket.once('close', resolve)), heard: '' };
  socket.on('data', (chunk) => {
    client.heard += chunk;
  });
  socket.on('error', () => {});
  clients.push(client);
  await once(socket, 'connect');
  return client;
}

async function ask(client: Client, command: string, answer: string): Promise<void> {
  client.heard = '';
  client.socket.write(`${command}\r\n`);
  await until(`${command} is answered with ${answer}`, async () => client.heard === answer);
}

test('what goes through arrives, and a server that says goodbye is heard', async () => {
  const client = await open();
  await ask(client, 'PING', '+PONG\r\n');
  client.socket.write('QUIT\r\n');
  await client.closed;
  expect(client.heard).toBe('+PONG\r\n+OK\r\n');
  const value = 'x'.repeat(1_000_000);
  await server.run('SET', 'long', value);
  await ask(await open(), 'GET long', `$1000000\r\n${value}\r\n`);
});

test('a delay counts each way, and keeps the order', async () => {
  const client = await open();
  proxy.delay(50);
  const start = performance.now();
  await ask(client, 'PING', '+PONG\r\n');
  expect(performance.now() - start).toBeGreaterThan(98); // Timers may be early by a millisecond.
  client.heard = '';
  client.socket.write('ECHO 1\r\n');
  await new Promise(setImmediate);
  proxy.delay(0);
  client.socket.write('ECHO 2\r\n');
  await until('both are answered', async () => client.heard === '$1\r\n1\r\n$1\r\n2\r\n');
});

test('a frozen network swallows everything, and keeps its connections', async () => {
  const client = await open();
  const idle = await open();
  await ask(client, 'PING', '+PONG\r\n');
  await ask(idle, 'PING', '+PONG\r\n');
  client.heard = '';
  proxy.freeze();
  client.socket.write('SET key value\r\n');
  const late = await open();
  late.socket.write('SET key value\r\n');
  await server.run('CLIENT', 'KILL', 'TYPE', 'normal'); // Nor is the end of a connection told.
  expect([client.heard, client.socket.readyState, late.socket.readyState]).toEqual(['', 'open', 'open']);
  proxy.thaw();
  await Promise.all([client.closed, late.closed]);
  expect(await server.run('GET', 'key')).toBeNull();
  await ask(await open(), 'PING', '+PONG\r\n');
});

test('connections that lost nothing outlive the frost', async () => {
  const client = await open();
  await ask(client, 'PING', '+PONG\r\n');
  proxy.freeze();
  proxy.thaw();
  await ask(client, 'PING', '+PONG\r\n');
});

test('a cut ends the connections there are, and no others', async () => {
  const client = await open();
  await ask(client, 'PING', '+PONG\r\n');
  proxy.cut();
  await client.closed;
  await ask(await open(), 'PING', '+PONG\r\n');
});

test('a server that is down is seen as one that refuses', async () => {
  await server.kill();
  await (await open()).closed;
  await server.restart();
  await ask(await open(), 'PING', '+PONG\r\n');
});

test('nobody is served after the stop', async () => {
  const client = await open();
  await Promise.all([proxy.stop(), proxy.stop()]);
  await client.closed;
  await expect(open()).rejects.toThrow('ECONNREFUSED');
});

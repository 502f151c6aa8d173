import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { FaultyProxy, RedisServer, until } from '@rollgate/test-support';
import { flushPromises } from '@rollgate/test-support/flush-promises';

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

/** A connection through the proxy, and the text that it received. */
interface Client {
  readonly socket: Socket;
  readonly closed: Promise<unknown>;
  received: string;
}

async function open(): Promise<Client> {
  const socket = connect(proxy.port, '127.0.0.1');
  const client: Client = { socket, closed: new Promise((resolve) => socket.once('close', resolve)), received: '' };
  socket.on('data', (chunk) => {
    client.received += chunk;
  });
  socket.on('error', () => {});
  clients.push(client);
  await once(socket, 'connect');
  return client;
}

async function send(client: Client, command: string, reply: string): Promise<void> {
  client.received = '';
  client.socket.write(`${command}\r\n`);
  await until(`${command} returns ${reply}`, async () => client.received === reply);
}

test('passes on bytes and the end of a connection', async () => {
  const client = await open();
  await send(client, 'PING', '+PONG\r\n');
  client.socket.write('QUIT\r\n');
  await client.closed;
  expect(client.received).toBe('+PONG\r\n+OK\r\n');
  const value = 'x'.repeat(1_000_000);
  await server.run('SET', 'long', value);
  await send(await open(), 'GET long', `$1000000\r\n${value}\r\n`);
});

test('delays each direction and keeps the order', async () => {
  const client = await open();
  proxy.delay(50);
  const start = performance.now();
  await send(client, 'PING', '+PONG\r\n');
  expect(performance.now() - start).toBeGreaterThan(98); // Timers may be early by a millisecond.
  client.received = '';
  client.socket.write('ECHO 1\r\n');
  await flushPromises();
  proxy.delay(0);
  client.socket.write('ECHO 2\r\n');
  await until('both replies arrive', async () => client.received === '$1\r\n1\r\n$1\r\n2\r\n');
});

test('a frozen proxy drops everything and keeps its connections', async () => {
  const client = await open();
  const idle = await open();
  await send(client, 'PING', '+PONG\r\n');
  await send(idle, 'PING', '+PONG\r\n');
  client.received = '';
  proxy.freeze();
  client.socket.write('SET key value\r\n');
  const late = await open();
  late.socket.write('SET key value\r\n');
  await server.run('CLIENT', 'KILL', 'TYPE', 'normal'); // The proxy drops the end of a connection as well.
  expect([client.received, client.socket.readyState, late.socket.readyState]).toEqual(['', 'open', 'open']);
  proxy.thaw();
  await Promise.all([client.closed, late.closed]);
  expect(await server.run('GET', 'key')).toBeNull();
  await send(await open(), 'PING', '+PONG\r\n');
});

test('a cut destroys the existing connections only', async () => {
  const client = await open();
  await send(client, 'PING', '+PONG\r\n');
  proxy.cut();
  await client.closed;
  await send(await open(), 'PING', '+PONG\r\n');
});

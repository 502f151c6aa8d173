import { existsSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { RedisServer, startRedis } from '@rollgate/test-support';

const servers: RedisServer[] = [];
afterEach(() => Promise.all(servers.splice(0).map((server) => server.stop())));

async function start(options?: Parameters<typeof RedisServer.start>[0]): Promise<RedisServer> {
  const server = await RedisServer.start(options);
  servers.push(server);
  return server;
}

async function folderOf(server: RedisServer): Promise<string> {
  const [, folder] = (await server.run('CONFIG', 'GET', 'dir')) as string[];
  return folder!;
}

const isListening = ({ port, host }: RedisServer) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(port, host, () => resolve(true));
    socket.on('error', () => resolve(false));
    socket.on('connect', () => socket.destroy());
  });

test('a server starts empty and leaves neither process nor folder behind', async () => {
  const server = await start();
  expect(server.url).toBe(`redis://127.0.0.1:${server.port}`);
  expect(await server.run('PING')).toBe('PONG');
  expect(await server.run('DBSIZE')).toBe(0);
  const { pid } = server;
  const folder = await folderOf(server);
  expect(existsSync(folder)).toBe(true);
  await Promise.all([server.stop(), server.stop()]);
  await server.stop();
  expect(() => process.kill(pid, 0)).toThrow('ESRCH');
  expect(existsSync(folder)).toBe(false);
  await expect(server.run('PING')).rejects.toThrow('got one that has ended');
  await expect(server.restart()).rejects.toThrow('got a stopped one');
});

test('a killed server restarts without keys on its port', async () => {
  const server = await start();
  const { pid, port } = server;
  await server.run('SET', 'key', 'value');
  await server.kill();
  await server.kill();
  expect(await isListening(server)).toBe(false);
  await expect(server.run('GET', 'key')).rejects.toThrow('got one that has ended');
  await server.restart();
  expect(await server.run('GET', 'key')).toBeNull();
  expect(server.port).toBe(port);
  expect(server.pid).not.toBe(pid);
});

test('replaces a connection that the server closes', async () => {
  const server = await start();
  const first = (await server.run('CLIENT', 'ID')) as number;
  expect(await server.run('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'no')).toBe(1);
  await expect(server.run('CLIENT', 'ID')).rejects.toThrow('Connection is closed');
  expect(await server.run('CLIENT', 'ID')).toBe(first + 1);
});

test('a paused server delays its replies', async () => {
  const server = await start();
  await server.run('SET', 'key', 'value');
  server.pause();
  expect(await isListening(server)).toBe(true);
  let hasReplied = false;
  const reply = server.run('GET', 'key').finally(() => {
    hasReplied = true;
  });
  expect(await isListening(server)).toBe(true); // A round trip to the system takes longer than a reply would.
  expect(hasReplied).toBe(false);
  server.resume();
  expect(await reply).toBe('value');
});

test('passes `args` to the server, and reports its error about an invalid one', async () => {
  const server = await start({ args: ['--maxmemory', '3mb'] });
  expect(await server.run('CONFIG', 'GET', 'maxmemory')).toEqual(['maxmemory', String(3 * 1024 * 1024)]);
  await expect(start({ args: ['--maxmemory', 'much'] })).rejects.toThrow('argument must be a memory value');
});

test('uses the `port` option', async () => {
  const server = await start();
  await expect(start({ port: server.port })).rejects.toThrow('Address already in use');
  const { port } = server;
  await server.stop();
  expect((await start({ port })).port).toBe(port);
});

(existsSync('/usr/bin/taskset') ? test : test.skip)('pins a server to its core', async () => {
  const server = await start({ core: 0 });
  expect(readFileSync(`/proc/${server.pid}/status`, 'utf8')).toMatch(/^Cpus_allowed_list:\t0$/m);
});

describe('environment', () => {
  const { PATH, REDIS_URL } = process.env;
  afterEach(() => {
    process.env.PATH = PATH;
    if (REDIS_URL === undefined) delete process.env.REDIS_URL;
    else process.env.REDIS_URL = REDIS_URL;
  });

  test('uses the server of REDIS_URL and does not stop it', async () => {
    const server = await start();
    process.env.REDIS_URL = server.url;
    const found = await startRedis();
    expect(found.url).toBe(server.url);
    await found.stop();
    expect(await server.run('PING')).toBe('PONG');
  });
});

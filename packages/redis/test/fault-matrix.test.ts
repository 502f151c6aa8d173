import { RedisStore } from '@rollgate/redis';
import { type Fault, verifyFault } from '@rollgate/store-conformance';
import { FaultyProxy, networkFaults, RedisServer, redisFaults } from '@rollgate/test-support';
import { effort } from '@rollgate/test-support/effort';
import { silenceOutages } from '@rollgate/test-support/silence-outages';
import { clients, clientsWithOptions, type OpenClient } from './support/clients.js';
import { Sentinel } from './support/sentinel.js';
import { sentinelClients } from './support/sentinel-clients.js';

silenceOutages();

let server: RedisServer;
let proxy: FaultyProxy;
let sentinel: Sentinel;
const opened = new Map<string, Pick<OpenClient, 'client'> & { close(): unknown }>();
beforeAll(async () => {
  server = await RedisServer.start();
  proxy = await FaultyProxy.start(server.port);
  const url = `redis://127.0.0.1:${proxy.port}`;
  for (const [kind, open] of Object.entries({ ...clients, ...clientsWithOptions })) opened.set(kind, await open(url));
  sentinel = await Sentinel.start({ host: server.host, port: proxy.port }, { replicaCount: 0 });
  for (const [kind, open] of Object.entries(sentinelClients)) opened.set(`${kind} by a Sentinel`, await open(sentinel));
});
afterAll(async () => {
  await Promise.all([...opened.values()].map(({ close }) => close()));
  await sentinel.stop();
  await proxy.stop();
  await server.stop();
});

/** Changes each key whose name contains this text. */
async function overwrite(name: string, write: (key: string) => Promise<unknown>): Promise<string[]> {
  const keys = (await server.run('KEYS', `*${name}*`)) as string[];
  expect(keys.length).toBeGreaterThanOrEqual(opened.size);
  for (const key of keys) await write(key);
  return keys;
}

/** What Redis makes of the data of a key, which depends on the log. */
const FAULTS_OF_DATA: readonly Fault[] = [
  ...redisFaults(() => server),
  {
    name: 'a key with another type',
    affects: 'key',
    async start(name) {
      const keys = await overwrite(name, async (key) => {
        await server.run('DEL', key);
        await server.run('LPUSH', key, 'another program');
      });
      return () => server.run('DEL', ...keys);
    },
  },
  {
    name: 'a damaged state',
    affects: 'key',
    async start(name) {
      const keys = await overwrite(name, (key) => server.run('SET', key, 'damaged'));
      return () => server.run('DEL', ...keys);
    },
  },
];

const FAULTS: readonly Fault[] = [
  ...FAULTS_OF_DATA,
  ...networkFaults(() => proxy),
  {
    name: 'replies that come too late',
    start() {
      proxy.delay(600); // In each direction.
      return () => proxy.delay(0);
    },
  },
  {
    name: 'a server that falls silent, and then runs what has arrived',
    start() {
      server.pause();
      return () => server.resume();
    },
  },
  {
    name: 'a server that ends and starts again',
    losesData: true,
    async start() {
      await server.kill();
      return () => server.restart();
    },
  },
  {
    name: 'a server that has lost its scripts',
    affects: 'key', // So the checks of other keys must not fail.
    async start() {
      await server.run('SCRIPT', 'FLUSH');
      return () => {};
    },
  },
  {
    name: 'a password that the clients do not have',
    async start() {
      await server.run('CONFIG', 'SET', 'requirepass', 'secret');
      proxy.cut();
      return () => server.run('CONFIG', 'SET', 'requirepass', '');
    },
  },
];

describe.each([
  ['packed', FAULTS],
  ['sorted-set', effort(FAULTS_OF_DATA, FAULTS)],
] as const)('with the log %s, all clients survive', (log, faults) => {
  test.each(faults)('$name', async (fault) => {
    const stores = [...opened].map(([kind, { client }]) => [kind, new RedisStore({ client, log, denialCache: false })]);
    await verifyFault(Object.fromEntries(stores), fault);
  });
});

import { createStore, type Update } from '@rollgate/core/store';
import { LeasingStore } from '@rollgate/leasing';
import { RedisStore } from '@rollgate/redis';
import { type Fault, verifyFault } from '@rollgate/store-conformance';
import { FaultyProxy, networkFaults, RedisServer, redisFaults } from '@rollgate/test-support';
import { type Rows, updateRows } from '@rollgate/test-support/rows';
import { silenceOutages } from '@rollgate/test-support/silence-outages';
import { Redis } from 'ioredis';

silenceOutages();

// Without faults that lose data: processes may spend the units that they hold beside those of the new state.

describe('over Redis', () => {
  let server: RedisServer;
  let proxy: FaultyProxy;
  let client: Redis;
  beforeAll(async () => {
    server = await RedisServer.start();
    proxy = await FaultyProxy.start(server.port);
    client = new Redis(proxy.port, '127.0.0.1');
    client.on('error', () => {});
  });
  afterAll(async () => {
    client.disconnect();
    await proxy.stop();
    await server.stop();
  });

  const FAULTS = [...networkFaults(() => proxy), ...redisFaults(() => server)];

  test.each(FAULTS)('leases survive $name', async (fault) => {
    const open = (minDecisions: number) => new LeasingStore({ store: new RedisStore({ client }), minDecisions });
    await verifyFault({ 'leases of few units': open(1), 'leases of many units': open(100) }, fault);
  });
});

describe('over `createStore`', () => {
  const rows: Rows = new Map();
  /** What goes wrong in a transaction, by its keys. Returns `true` if nothing does. */
  let trouble: (keys: readonly string[]) => unknown = () => true;

  function transact(keys: readonly string[], update: Update): void | Promise<void> {
    const result = trouble(keys);
    if (result !== true) return result as Promise<void>;
    updateRows(rows, keys, update);
  }

  const refuse = (): never => {
    throw new Error('ECONNREFUSED');
  };
  const failWith = (next: typeof trouble) => {
    trouble = next;
    return () => {
      trouble = () => true;
    };
  };

  const FAULTS: readonly Fault[] = [
    { name: 'throws', start: () => failWith(refuse) },
    { name: 'rejects', start: () => failWith(async () => refuse()) },
    { name: 'is silent', start: () => failWith(() => new Promise(() => {})) },
    {
      name: 'refuses one key',
      affects: 'key',
      start: (name) => failWith((keys) => !keys.some((key) => key.includes(name)) || refuse()),
    },
  ];

  test.each(FAULTS)('leases survive a database that $name', async (fault) => {
    const store = createStore({ transact });
    await verifyFault({ 'The leases': new LeasingStore({ store, minDecisions: 1 }) }, fault);
  });
});

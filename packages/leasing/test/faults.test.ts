import { LeasingStore } from '@rollgate/leasing';
import { RedisStore } from '@rollgate/redis';
import { verifyFault } from '@rollgate/store-conformance';
import { FaultyProxy, networkFaults, RedisServer, redisFaults } from '@rollgate/test-support';
import { TroubledRows } from '@rollgate/test-support/rows';
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
  const rows = new TroubledRows();

  test.each(rows.faults)('leases survive a database that $name', async (fault) => {
    await verifyFault({ 'The leases': new LeasingStore({ store: rows.createStore(), minDecisions: 1 }) }, fault);
  });
});

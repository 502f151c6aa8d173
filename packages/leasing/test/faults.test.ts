import { setTimeout as delay } from 'node:timers/promises';
import { LeasingStore } from '@rollgate/leasing';
import { RedisStore } from '@rollgate/redis';
import { verifyFault } from '@rollgate/store-conformance';
import { FaultyProxy, networkFaults, RedisServer, redisFaults, until } from '@rollgate/test-support';
import { effort } from '@rollgate/test-support/effort';
import { TroubledRows } from '@rollgate/test-support/rows';
import { silenceOutages } from '@rollgate/test-support/silence-outages';
import { Redis } from 'ioredis';
import { mostInWindow, SpendingProcesses } from './support/spending-processes.js';

silenceOutages();

let server: RedisServer;
beforeAll(async () => {
  server = await RedisServer.start();
});
afterAll(() => server.stop());

// Without faults that lose data: processes may spend the units that they hold beside those of the new state.

describe('over Redis', () => {
  let proxy: FaultyProxy;
  let client: Redis;
  beforeAll(async () => {
    proxy = await FaultyProxy.start(server.port);
    client = new Redis(proxy.port, '127.0.0.1');
    client.on('error', () => {});
  });
  afterAll(async () => {
    client.disconnect();
    await proxy.stop();
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

describe('processes', () => {
  const LIMIT = 300;
  const WINDOW_MS = 400;
  const LEASE_MS = 20;
  const ROUNDS = effort(1, 20);

  let processes: SpendingProcesses;
  beforeEach(() => {
    const options = { url: server.url, limit: LIMIT, windowMs: WINDOW_MS, leaseMs: LEASE_MS, perSecond: 250 };
    processes = new SpendingProcesses(options, 4);
  });
  afterEach(() => processes.stop());

  /** Resolves when the processes that run have been allowed so many checks more. */
  async function untilAllowed(count: number): Promise<void> {
    const before = processes.allowed().length;
    await until(`${count} more checks are allowed`, async () => processes.allowed().length >= before + count);
  }

  test('killed and paused processes, a flushed script and lost connections never lead to more than the limit', async () => {
    await untilAllowed(LIMIT);
    for (let round = 0; round < ROUNDS; round++) {
      const paused = 4 * round;
      processes.signal(paused, 'SIGSTOP');
      processes.signal(paused + 1, 'SIGKILL');
      await untilAllowed(LIMIT);
      processes.signal(paused, 'SIGCONT');
      await server.run('SCRIPT', 'FLUSH');
      await untilAllowed(LIMIT);
      await server.run('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
      await untilAllowed(LIMIT);
      server.pause();
      await delay(4 * LEASE_MS);
      server.resume();
      await untilAllowed(LIMIT);
      if (round + 1 === ROUNDS) break;
      processes.signal(paused, 'SIGKILL');
      processes.signal(paused + 2, 'SIGKILL');
      processes.signal(paused + 3, 'SIGKILL');
      for (let index = 0; index < 4; index++) processes.start();
      await untilAllowed(LIMIT);
    }
    const allowed = processes.allowed();
    const leased = allowed.filter(({ startMs, endMs }) => startMs === endMs);
    expect(mostInWindow(allowed, WINDOW_MS)).toBeLessThanOrEqual(LIMIT);
    expect(leased.length).toBeGreaterThan(0);
  });
});

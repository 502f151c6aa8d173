import type { Clock } from '@rollgate/core';
import { type IoredisClient, RedisStore, type RedisStoreOptions } from '@rollgate/redis';
import { type CheckOptions, checks, type MakeStore } from '@rollgate/store-conformance';
import { RedisCluster, RedisServer, startRedis } from '@rollgate/test-support';
import { effort, seed } from '@rollgate/test-support/effort';
import { silenceOutages } from '@rollgate/test-support/silence-outages';
import { Redis } from 'ioredis';
import { clients, type OpenClient } from './support/clients.js';
import { clusterClients } from './support/cluster-clients.js';
import { createExpiryClient } from './support/expiry-client.js';
import { createScriptEditingClient, replaceParts } from './support/script-editing-client.js';
import { LOGS } from './support/some-redis.js';

silenceOutages();

let server: Awaited<ReturnType<typeof startRedis>>;
let cluster: RedisCluster;
/** For the tests that change what a server accepts. */
let impaired: RedisServer;
beforeAll(async () => {
  [server, cluster, impaired] = await Promise.all([startRedis(), RedisCluster.start(3), RedisServer.start()]);
});
afterAll(() => Promise.all([server.stop(), cluster.stop(), impaired.stop()]));

/** Has the checks of an impaired storage run, with all others of the same suite, on that server. */
const impairment: Pick<CheckOptions, 'setReadOnly' | 'setFull'> = {
  // A replica rejects all writes, even if its primary does not exist.
  setReadOnly: (isReadOnly) => impaired.run('REPLICAOF', ...(isReadOnly ? [impaired.host, 1] : ['NO', 'ONE'])),
  setFull: (isFull) => impaired.run('CONFIG', 'SET', 'maxmemory', isFull ? 1 : 0),
};

/** Opens a client of each kind, for one server or for a Cluster. */
const openers = {
  ...clients,
  'ioredis 6 with inspected TTLs': async (url: string): Promise<OpenClient> => {
    const client = new Redis(url);
    return { client: createExpiryClient(client), close: () => client.disconnect() };
  },
  'an ioredis Cluster': () => clusterClients['ioredis 6'](cluster),
  'a node-redis cluster': () => clusterClients['node-redis 6'](cluster),
  'an iovalkey Cluster': () => clusterClients.iovalkey(cluster),
  'a GLIDE cluster client': () => clusterClients['Valkey GLIDE'](cluster),
};

type StoreOptions = Omit<RedisStoreOptions, 'client'>;
type Amount = Pick<CheckOptions, 'runs' | 'longRun' | 'algorithms' | 'setReadOnly' | 'setFull'> & {
  /** Which checks to run. @defaultValue all */
  readonly which?: RegExp | undefined;
};

/** Runs the suite with stores on two clients of this kind. Two stores of one test never share a client. */
function describeRedisStore(kind: keyof typeof openers, options: StoreOptions, { which, ...amount }: Amount): void {
  describe(`RedisStore on ${kind}, ${JSON.stringify(options).slice(1, -1)}`, () => {
    let pool: OpenClient[];
    let openedCount = 0;
    beforeAll(async () => {
      const { url } = amount.setFull === undefined ? server : impaired;
      pool = [await openers[kind](url), await openers[kind](url)];
    });
    afterAll(() => {
      for (const { close } of pool) close();
    });
    const makeStore: MakeStore = (clock) => {
      const { client } = pool[openedCount++ % pool.length]!;
      return new RedisStore({ client, clock, ...options });
    };
    const all = checks(makeStore, { ...amount, seed, shared: true, closeStore: () => {} });
    for (const { name, leftOut, run } of all) {
      if (leftOut === undefined && (which?.test(name) ?? true)) test(name, run);
    }
  });
}

describeRedisStore(
  'ioredis 6 with inspected TTLs',
  { log: 'packed', denialCache: false },
  { runs: effort(4, 1000), longRun: effort(60, 50_000), ...impairment },
);

/** What a remembered rejection can change: decisions, and what another store on the same data sees of them. */
const OF_DENIAL_CACHE = /vectors|like (?:its|their) oracle|like one|same data/;
describeRedisStore(
  'ioredis 6',
  { log: 'packed' },
  { runs: effort(3, 500), longRun: effort(60, 15_000), which: effort(OF_DENIAL_CACHE, undefined) },
);
// Only a rolling window has a log.
describeRedisStore(
  'ioredis 6 with inspected TTLs',
  { log: 'sorted-set', denialCache: false },
  {
    runs: effort(4, 600),
    longRun: effort(60, 15_000),
    algorithms: effort(['rollingWindow'], undefined),
    ...impairment,
  },
);

/** What a client can change: bytes of keys and states, the order of commands, their replies, and SCAN. */
const OF_CLIENTS = /vectors|characters|concurrent refunds|two limits|^lists keys of|same data decide|leaves the others/;

/**
 * The scripts do not depend on the client. So `npm test` runs only some algorithms and checks on each of the other clients,
 * and each algorithm on at least one of them.
 */
const few = (...algorithms: NonNullable<CheckOptions['algorithms']>): Amount => ({
  runs: effort(1, 150),
  longRun: effort(30, 5000),
  algorithms: effort(algorithms, undefined),
  which: effort(OF_CLIENTS, undefined),
});

describeRedisStore('ioredis 5', { log: 'packed' }, few('rollingWindow', 'tokenBucket'));
describeRedisStore('node-redis 6', { log: 'packed' }, few('slidingWindowCounter', 'leakyBucket'));
describeRedisStore('node-redis 6', { log: 'sorted-set' }, few('rollingWindow'));
describeRedisStore('node-redis 5', { log: 'packed' }, few('fixedWindow', 'bucketedWindow'));
describeRedisStore('iovalkey', { log: 'packed' }, few('rollingWindow'));
describeRedisStore('Valkey GLIDE', { log: 'packed' }, few('rollingWindow', 'tokenBucket'));
describeRedisStore('@upstash/redis', { log: 'packed' }, few('rollingWindow'));
const onCluster = { clusterSlot: 'prefix' } as const;
describeRedisStore('an ioredis Cluster', { log: 'packed', ...onCluster }, few('rollingWindow', 'leakyBucket'));
describeRedisStore('a node-redis cluster', { log: 'sorted-set', ...onCluster }, few('rollingWindow', 'tokenBucket'));
describeRedisStore('an iovalkey Cluster', { log: 'packed', ...onCluster }, few('fixedWindow'));
describeRedisStore('a GLIDE cluster client', { log: 'packed', ...onCluster }, few('slidingWindowCounter'));

/** In the year 2100, so that Redis expires no key during a test. */
const START_SECONDS = 47_482 * 86_400;

/** A client whose scripts take this clock for the server's. */
function createServerClockClient(client: Redis, clock: Clock): IoredisClient {
  const edited = createScriptEditingClient(
    client,
    replaceParts([
      "values, time = ARGV, redis.call('TIME')",
      "values, time = ARGV, { redis.call('GET', 'test:seconds'), redis.call('GET', 'test:micros') }",
    ]),
  );
  const setTime = () => {
    const micros = Math.round(clock.now() * 1000);
    const seconds = START_SECONDS + Math.floor(micros / 1e6);
    return client.mset('test:seconds', seconds, 'test:micros', micros % 1e6);
  };
  return {
    ...edited,
    evalsha: (...given: Parameters<typeof edited.evalsha>) => setTime().then(() => edited.evalsha(...given)),
  };
}

describe.each(LOGS)('when the clock of the server steps, a store with the log %s', (log) => {
  let client: Redis;
  beforeAll(() => {
    client = new Redis(server.url);
  });
  afterAll(() => client.disconnect());
  const makeStore = (clock: Clock) =>
    new RedisStore({ client: createServerClockClient(client, clock), log, denialCache: false });
  // Some of the others expect that operations share a microsecond.
  const all = checks(makeStore, log === 'packed' ? {} : { algorithms: ['rollingWindow'] });
  const own = all.filter(({ name, leftOut }) => / clock step/.test(name) && leftOut === undefined);
  test.each(own)('$name', ({ run }) => run());
});

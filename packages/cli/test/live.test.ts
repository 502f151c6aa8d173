import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { calendarWindow } from '@rollgate/calendar';
import {
  block,
  bucketedWindow,
  concurrency,
  fixedWindow,
  type Limits,
  leakyBucket,
  RateLimiter,
  rollingWindow,
  type Store,
  slidingWindowCounter,
  tokenBucket,
} from '@rollgate/core';
import { describeLimiter, rejectedKeys } from '@rollgate/core/observe';
import { PostgresStore } from '@rollgate/postgres';
import { RedisStore } from '@rollgate/redis';
import { SqliteStore } from '@rollgate/sqlite';
import { PostgresServer, RedisCluster, RedisServer, until } from '@rollgate/test-support';
import { Cluster, Redis } from 'ioredis';
import Database from 'libsql';
import { Pool } from 'pg';
import { folder, MAIN, rollgate } from './support/rollgate';

const LIMITS = { burst: '5/1h', day: '1000/1d', blocked: block() } as const;

interface Place {
  /** With all rights. */
  readonly url: string;
  /** Of a user who may only read. */
  readonly readOnlyUrl: string;
  readonly store: Store;
}

let redis: RedisServer;
let postgres: PostgresServer;
let client: Redis;
let pool: Pool;
let database: InstanceType<typeof Database>;
const places: Record<string, Place> = {};

beforeAll(async () => {
  [redis, postgres] = await Promise.all([RedisServer.start(), PostgresServer.start({ fsync: 'off' })]);
  client = new Redis(redis.url);
  const rights = ['~*', '-@all', '+@read', '+@connection', '+eval', '+evalsha', '+time'];
  await client.acl('SETUSER', 'reader', 'on', '>s3cret/pw', ...rights);
  const { host } = new URL(redis.url);
  const login = 'reader:s3cret%2Fpw';
  places['Redis'] = {
    url: redis.url,
    readOnlyUrl: `redis://${login}@${host}`,
    store: new RedisStore({ client }),
  };
  pool = new Pool({ connectionString: postgres.url });
  const inPostgres = new PostgresStore({ client: pool });
  await inPostgres.createTable();
  await pool.query('CREATE ROLE reader LOGIN; GRANT SELECT ON rollgate TO reader');
  places['PostgreSQL'] = {
    url: postgres.url,
    readOnlyUrl: postgres.url.replace('rollgate@', `${login}@`),
    store: inPostgres,
  };
  const file = join(folder(), 'limits.db');
  database = new Database(file);
  database.exec('PRAGMA journal_mode = WAL');
  const inSqlite = new SqliteStore({ database: database as never });
  places['SQLite'] = { url: file, readOnlyUrl: file, store: inSqlite };
});

afterAll(async () => {
  client.disconnect();
  await pool.end();
  database.close();
  await Promise.all([redis.stop(), postgres.stop()]);
});

/** Creates a limiter and describes it. */
async function open<Given extends Limits>(store: Store, name: string, limits: Given): Promise<RateLimiter<Given>> {
  const limiter = new RateLimiter<Given>({ name, prefix: name, limits, store, timeout: '1m' });
  const description = describeLimiter(limiter);
  await description.ready;
  description.close();
  return limiter;
}

/** The cells of each line, without times that depend on the machine. */
const cellsOf = (stdout: string): string[] =>
  stdout.split('\n').map((line) =>
    line
      .trim()
      .replaceAll(/ {2,}/g, ' | ')
      .replaceAll(/(?<=\| |for )\d+[dhm](?: \d+[hms])?(?= \|)/g, 'TIME'),
  );

async function json(...args: readonly string[]) {
  const { code, stdout, stderr } = await rollgate([...args, '--json']);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout);
}

describe.each(['Redis', 'PostgreSQL', 'SQLite'])('with %s', (kind) => {
  let url: string;
  let readOnlyUrl: string;
  let api: RateLimiter<typeof LIMITS>;
  beforeAll(async () => {
    ({ url, readOnlyUrl } = places[kind]!);
    api = await open(places[kind]!.store, 'api', LIMITS);
    await api.check('customer:7', { cost: { burst: 2, day: 700 } });
    await api.check('customer:8', { cost: { burst: 5, day: 5 } });
    await api.check('visitor:1');
  });

  test('credit gives used units of a key back, and adds to a period', async () => {
    const limits = {
      burst: rollingWindow({ limit: 9, window: '1h' }),
      slots: concurrency({ limit: 9 }),
      month: calendarWindow({ limit: 9, period: 'month' }),
    };
    const limiter = await open(places[kind]!.store, 'support', limits);
    await limiter.check('ann', { cost: 6 });
    const own = ['--limiter', 'support'];
    expect(await rollgate(['credit', url, 'ann', '2', ...own])).toEqual({
      code: 0,
      stdout: 'Gave up to 2 back to ann in support\n',
      stderr: '',
    });
    expect((await limiter.peek('ann')).limits).toMatchObject({
      burst: { remaining: 5 },
      slots: { remaining: 3 },
      month: { remaining: 5 },
    });
    const { changed } = await json('credit', url, 'ann', '10', ...own, '--beyond');
    expect(changed).toEqual([{ limiter: 'support', key: 'ann', limits: ['month'] }]);
    expect((await limiter.peek('ann')).limits).toMatchObject({
      burst: { remaining: 5 },
      month: { remaining: 15, limit: 15 },
    });
    const none = await rollgate(['credit', url, 'bob', '2', ...own, '--limit', 'burst']);
    expect(none.stdout).toBe('Nothing to credit for bob\n');
    const wrong = await rollgate(['credit', url, 'ann', '2', ...own, '--limit', 'slots']);
    expect(wrong).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('a limit that this can credit, got "slots"'),
    });
    await limiter.close();
  });

  test('top --rejected shows what the counters of a process write, and each rejection once', async () => {
    const limiter = new RateLimiter({ name: `gate of ${kind}`, limits: '1/1h' });
    const options = { store: places[kind]!.store, every: '300ms' };
    const reject = async (key: string, count: number) => {
      for (let calls = 0; calls <= count; calls++) await limiter.check(key);
    };
    const counters = [rejectedKeys({ ...options, max: 2 })];
    await reject('ann', 2);
    counters.push(rejectedKeys(options));
    await reject('ann', 0);
    await reject('bob\u001b', 1);
    const args = ['top', readOnlyUrl, '--rejected', '--limiter', `gate of ${kind}`];
    await until('the longer counter has written', async () => (await json(...args)).rejected[1]?.count === 1);
    expect((await json(...args)).rejected).toEqual([
      { key: 'ann', limiter: `gate of ${kind}`, violated: ['default'], count: 3, overcount: 0 },
      { key: 'bob\u001b', limiter: `gate of ${kind}`, violated: ['default'], count: 1, overcount: 0 },
    ]);
    expect((await json(...args, '--prefix', 'bob', '--top', '1')).rejected).toMatchObject([{ count: 1 }]);
    expect(cellsOf((await rollgate(args)).stdout).slice(0, 2)).toEqual([
      'rejected | limiter | violated | key',
      `3 | gate of ${kind} | default | ann`,
    ]);
    for (const one of counters) one.close();
    await until('the counts expire', async () => (await json(...args)).rejected.length === 0);
    expect((await rollgate(args)).stdout).toContain('Pass `store` to rejectedKeys() of @rollgate/core/observe');
  });

  test('top lists the keys with the largest shares first, with no more rights than to read', async () => {
    const { code, stdout, stderr } = await rollgate(['top', readOnlyUrl, '--limiter', 'api', '--top', '3']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(cellsOf(stdout)).toEqual([
      '6 states of keys in api',
      '',
      'share | used | limiter | limit | rule | state | key',
      '100% | 5 | api | burst | 5 per 1h | rejects for TIME | customer:8',
      '70% | 700 | api | day | 1,000 per 1d | allows | customer:7',
      '40% | 2 | api | burst | 5 per 1h | allows | customer:7',
      '',
    ]);
    const { states, top } = await json('top', url, '--limiter', 'api', '--prefix', 'customer:');
    expect(states).toBe(4);
    expect(top.map(({ key, limit, share }: Record<string, unknown>) => [key, limit, share])).toEqual([
      ['customer:8', 'burst', 1],
      ['customer:7', 'day', 0.7],
      ['customer:7', 'burst', 0.4],
      ['customer:8', 'day', 0.005],
    ]);
  });

  test('inspect shows each limit of a key, with no more rights than to read', async () => {
    const { code, stdout } = await rollgate(['inspect', readOnlyUrl, 'customer:7', '--limiter', 'api']);
    expect(code).toBe(0);
    expect(cellsOf(stdout)).toEqual([
      'customer:7',
      '',
      'limiter | limit | rule | used | remaining | reset | state',
      'api | burst | 5 per 1h | 2 | 3 | TIME | allows',
      'api | day | 1,000 per 1d | 700 | 300 | TIME | allows',
      'api | blocked | block | open',
      '',
    ]);
  });

  test('inspect says that a key which it does not know has used nothing', async () => {
    const { stdout } = await rollgate(['inspect', url, 'custmoer:7', '--limiter', 'api']);
    expect(stdout).toContain('\n\nThis key has used nothing.');
  });

  test('a limit with blockFor has one row for a closed key', async () => {
    const closing = await open(
      places[kind]!.store,
      'closing',
      rollingWindow({ limit: 1, window: '1h', blockFor: '2h' }),
    );
    for (const key of ['ann', 'ann', 'bob']) await closing.check(key);
    const { states, top } = await json('top', url, '--limiter', 'closing');
    expect(states).toBe(2);
    const options = { limit: 1, window: '3600000ms', blockFor: '7200000ms' };
    expect(top).toMatchObject([
      { key: 'ann', blocked: true, used: 1, share: 1, options },
      { key: 'bob', blocked: false, used: 1, share: 1, options },
    ]);
    expect((await json('inspect', url, 'ann', '--limiter', 'closing')).limits).toMatchObject([
      { blocked: true, options },
    ]);
    expect((await rollgate(['inspect', url, 'ann', '--limiter', 'closing'])).stdout).toContain(
      ' 1 per 1h, blocks for 2h ',
    );
    expect((await json('reset', url, 'ann', '--limiter', 'closing')).changed).toHaveLength(1);
    expect((await closing.check('ann')).allowed).toBe(true);
  });

  test('reset and block change a key, and nothing else', async () => {
    expect(await rollgate(['block', url, 'visitor:1', '1h', '--limiter', 'api'])).toEqual({
      code: 0,
      stdout: 'Blocked visitor:1 in api\n',
      stderr: '',
    });
    expect(await api.check('visitor:1')).toMatchObject({ allowed: false, violated: ['blocked'] });
    const { limits } = await json('inspect', url, 'visitor:1', '--limiter', 'api');
    expect(limits[2]).toMatchObject({ blocked: true, allowed: false, used: null, share: 1 });
    await json('reset', url, 'visitor:1', '--limiter', 'api', '--limit', 'blocked');
    expect(await api.peek('visitor:1')).toMatchObject({ allowed: true, limits: { burst: { remaining: 4 } } });
    const reset = await rollgate(['reset', url, 'visitor:1', '--limiter', 'api']);
    expect(reset.stdout).toBe('Reset visitor:1 in api\n');
    expect(await api.peek('visitor:1')).toMatchObject({ limits: { burst: { remaining: 5 } } });
    expect(await api.peek('customer:7')).toMatchObject({ limits: { burst: { remaining: 3 } } });
    const again = await rollgate(['reset', url, 'visitor:1', '--limiter', 'api']);
    expect(again.stdout).toBe('Nothing to reset for visitor:1\n');
    await api.check('visitor:1');
    const both = await rollgate(['reset', url, 'visitor:1', 'visitro:1', '--limiter', 'api']);
    expect(both.stdout).toBe('Reset visitor:1 in api\nNothing to reset for visitro:1\n');
    await api.check('visitor:1');
  });

  test('limits of every algorithm are created as the app has them', async () => {
    const all = {
      rolling: rollingWindow({ limit: 9, window: '90s', minDifference: '1s', countRejected: true }),
      fixed: fixedWindow({ limit: 9, window: '1h' }),
      counter: slidingWindowCounter({ limit: 9, window: '1h' }),
      bucketed: bucketedWindow({ limit: 9, window: '1h', buckets: 7 }),
      tokens: tokenBucket({ capacity: 9, refill: 7, every: '1h' }),
      queue: leakyBucket({ capacity: 9, interval: '1m' }),
      slots: concurrency({ limit: 9, lease: '1m' }),
      month: calendarWindow({ limit: 9, period: 'month', anchor: 15, timeZone: 'Europe/Berlin' }),
      budget: calendarWindow({ limit: 9, period: { months: 3 }, lease: '1m', unsettled: 'charge' }),
    };
    const limiter = await open(places[kind]!.store, 'all', all);
    const decision = await limiter.check('ann', { cost: 2 });
    const { limits } = await json('inspect', url, 'ann', '--limiter', 'all');
    const peeked = await limiter.peek('ann');
    expect(limits).toHaveLength(9);
    for (const { limit, remaining, resetMs, reserved, slots } of limits) {
      const own = peeked.limits[limit as keyof typeof all];
      expect([limit, remaining]).toEqual([limit, own.remaining]);
      // The rest of the reset has passed since.
      if (limit === 'slots') expect(resetMs).toBeNull();
      else expect(Math.abs(resetMs - own.resetMs)).toBeLessThan(60_000);
      if (limit === 'budget') expect(reserved).toBe(2);
      if (limit === 'slots') expect(slots).toBe(2);
    }
    await limiter.release(decision);
    // Of an action that has started at once, a queue has the earliest start of the next one only.
    const queue = await open(places[kind]!.store, 'queue', leakyBucket({ capacity: 9, interval: '1h' }));
    await queue.check('ann');
    expect((await json('reset', url, 'ann', '--limiter', 'queue')).changed).toHaveLength(1);
    expect((await queue.check('ann')).delayMs).toBe(0);
    await limiter.close();
  });

  test('keys with control characters reach no terminal as they are', async () => {
    const evil = 'e\u001b[31mvil\u202e\n';
    await api.check(evil, { cost: { day: 999, burst: 1 } });
    for (const args of [
      ['top', url, '--limiter', 'api'],
      ['inspect', url, evil],
      ['reset', url, evil],
    ]) {
      const { stdout } = await rollgate(args);
      expect(stdout).toContain('e\\u001b[31mvil\\u202e\\u000a');
      expect(stdout).not.toContain('\u001b');
    }
    await api.check(evil, { cost: { day: 999, burst: 1 } });
    const { stdout } = await rollgate(['top', url, '--limiter', 'api', '--json']);
    for (const character of ['\u001b', '\u202e']) expect(stdout).not.toContain(character);
    expect(JSON.parse(stdout).top[1].key).toBe(evil);
    await api.reset(evil);
  });
});

describe('more than one key', () => {
  let limiters: readonly RateLimiter[];
  const used = async () =>
    (await Promise.all(limiters.map((one) => one.peek('ann')))).map(({ remaining }) => remaining);
  beforeAll(async () => {
    const { store } = places['Redis']!;
    limiters = [await open(store, 'one', '5/1h'), await open(store, 'two', '5/1h')];
  });
  beforeEach(() => Promise.all(limiters.map((limiter) => limiter.check('ann', { cost: 5 }))));

  const reset = ['reset', 'ann', '--limiter', 'one,two'];
  const command = (...more: readonly string[]) => ['reset', redis.url, ...reset.slice(1), ...more];
  /** Standard input is a pipe that looks like a terminal. */
  const nodeOptions = ['--import', 'data:text/javascript,process.stdin.isTTY=true'];

  test('without a terminal, they are only changed with --yes', async () => {
    const { code, stderr } = await rollgate(command());
    expect(code).toBe(2);
    expect(stderr).toContain(
      'Reset 2 keys: ann in one, ann in two? Nobody can answer without a terminal. Pass `--yes`',
    );
    expect(await used()).toEqual([0, 0]);
    expect((await rollgate(command('--yes'))).stdout).toBe('Reset ann in one\nReset ann in two\n');
    expect(await used()).toEqual([5, 5]);
  });

  test.each([
    ['y\n', 'Reset ann in one\nReset ann in two\n', [5, 5]],
    ['\n', 'Nothing was changed\n', [0, 0]],
    ['no\n', 'Nothing was changed\n', [0, 0]],
  ])('on a terminal, the answer %j decides', async (answer, output, left) => {
    const { stdout, stderr } = await rollgate(command(), { nodeOptions, input: [answer] });
    expect(stderr).toContain('Reset 2 keys: ann in one, ann in two? [y/N]');
    expect(stdout).toBe(output);
    expect(await used()).toEqual(left);
  });
});

test('top --watch lists the keys again and again', async () => {
  const limiter = await open(places['Redis']!.store, 'watched', '5/1h');
  const args = ['top', redis.url, '--limiter', 'watched', '--watch', '--every', '20ms', '--json'];
  const child = spawn(process.execPath, [MAIN, ...args], { cwd: folder(), stdio: ['ignore', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async () => JSON.parse((await lines.next()).value);
  expect(await next()).toEqual({ states: 0, top: [] });
  await limiter.check('ann');
  let found = await next();
  while (found.states === 0) found = await next();
  expect(found.top).toMatchObject([{ key: 'ann', used: 1 }]);
  child.kill('SIGINT');
  expect(await once(child, 'exit')).toEqual([130, null]);
});

test('the URL may come from the environment, and errors show no credentials', async () => {
  const env = { LIMITS_URL: `redis://reader:wr0ng%2Fpw@${new URL(redis.url).host}` };
  const wrong = await rollgate(['top', 'env:LIMITS_URL'], { nodeOptions: [], env });
  expect(wrong).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('rollgate: WRONGPASS') });
  const down = await rollgate(['top', 'redis://reader:wr0ng%2Fpw@127.0.0.1:1']);
  expect(down).toMatchObject({ code: 1, stderr: 'rollgate: connect ECONNREFUSED 127.0.0.1:1\n' });
  const denied = await rollgate(['reset', places['Redis']!.readOnlyUrl, 'customer:7', '--limiter', 'api']);
  expect(denied).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('rollgate: The store failed:') });
  for (const { stderr } of [wrong, down, denied]) expect(stderr).not.toMatch(/wr0ng|s3cret|redis:\/\//);
});

test.each([
  [['top', 'mysql://localhost'], 2, 'Expected a URL that begins with redis:// or postgres://'],
  [['top', 'missing.db'], 1, 'or a file of SQLite, got "missing.db"'],
  [['top', 'localhost:6379'], 1, 'Expected a URL such as redis://localhost, or a file of SQLite, got "localhost:6379"'],
  [['top', 'env:NO_SUCH_VARIABLE'], 2, 'Expected the environment variable NO_SUCH_VARIABLE to contain a URL'],
])('%j is an error with a fix', async (args, code, message) => {
  const exit = await rollgate(args);
  expect(exit).toMatchObject({ code, stdout: '', stderr: expect.stringContaining(message) });
});

test('a `%` in a password that is no escape is an error with a fix', async () => {
  for (const url of ['redis://:100%x@127.0.0.1:1', 'postgres://ann:100%x@127.0.0.1:1/limits']) {
    const exit = await rollgate(['top', url]);
    expect(exit).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('Write `%25` for it') });
    expect(exit.stderr).not.toContain('100%');
  }
});

test('an address without a protocol is not shown if it may have a password', async () => {
  for (const url of ['ann:wr0ng@localhost:5432', 'host=localhost password=wr0ng', 'localhost/limits?password=wr0ng']) {
    const { code, stderr } = await rollgate(['top', url]);
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('or a file of SQLite, got "…"') });
  }
});

test('no error has the password of a parameter', async () => {
  // The driver puts the path into its message.
  const { code, stderr } = await rollgate(['top', 'redis://127.0.0.1?path=/wr0ng/pw.sock&password=wr0ng%2Fpw']);
  expect({ code, stderr }).toEqual({ code: 1, stderr: 'rollgate: connect ENOENT /….sock\n' });
});

test('the hash of a long key is an error, because it is no key', async () => {
  const { store, url } = places['SQLite']!;
  const limiter = await open(store, 'long', { own: '5/1h', blocked: block() });
  const key = 'k'.repeat(300);
  await limiter.check(key);
  const [{ key: hash, isHashed }] = (await json('top', url, '--limiter', 'long')).top;
  expect(isHashed).toBe(true);
  for (const args of [
    ['inspect', url, hash],
    ['reset', url, 'ann', hash],
    ['block', url, hash, '1h'],
  ]) {
    const exit = await rollgate([...args, '--limiter', 'long']);
    expect(exit).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining(`got ${hash}, the hash of a key`),
    });
  }
  const { limits } = await json('inspect', url, key, '--limiter', 'long');
  expect(limits[0]).toMatchObject({ used: 1 });
});

test('a file without a write-ahead log causes one line', async () => {
  const file = join(folder(), 'slow.db');
  const own = new Database(file);
  own.exec('PRAGMA journal_mode = WAL');
  const store = new SqliteStore({ database: own as never });
  for (const name of ['one', 'two']) await open(store, name, '5/1h');
  own.exec('PRAGMA journal_mode = DELETE');
  own.close();
  const { code, stderr } = await rollgate(['inspect', file, 'ann'], { nodeOptions: [] });
  expect(code).toBe(0);
  expect(stderr).toMatch(/^rollgate: The database of SqliteStore has the journal mode 'delete', .* once\n$/);
});

test('limiters that share states have them once', async () => {
  const { store, url } = places['SQLite']!;
  const shared = '5/1h';
  for (const [name, limits] of [
    ['front', { shared }],
    ['rear', { shared, own: '9/1h' }],
    ['side', { shared }],
    ['twin', { shared: '6/1h' }],
  ] as const) {
    const limiter = new RateLimiter({ name, prefix: 'common', limits: limits as Limits, store, timeout: '1m' });
    const description = describeLimiter(limiter);
    await description.ready;
    description.close();
    if (name === 'front') await limiter.check('zed');
  }
  const names = async (...own: string[]) =>
    (await json('inspect', url, 'zed', '--limiter', own.join())).limits.map(
      ({ limiter, limit }: Record<string, unknown>) => `${limiter} ${limit}`,
    );
  expect(await names('front', 'rear', 'side', 'twin')).toEqual(['front shared', 'rear own', 'twin shared']);
  expect(await names('side')).toEqual(['side shared']);
  expect((await json('top', url, '--limiter', 'front,rear,side')).states).toBe(1);
  const reset = await rollgate(['reset', url, 'zed', '--limiter', 'front,rear,side']);
  expect(reset).toMatchObject({ code: 0, stdout: 'Reset zed in front\n' });
});

test('fields of other programs among the descriptions are left alone', async () => {
  const fields = { x: 'abc', y: '', z: '12', w: '99999999999999 {' };
  await client.hset('#rollgate:notes', fields);
  try {
    const limiter = await open(places['Redis']!.store, 'neighbor', '5/1h');
    await limiter.check('ann');
    expect((await json('top', redis.url, '--limiter', 'neighbor')).states).toBe(1);
    expect(await client.hmget('#rollgate:notes', ...Object.keys(fields))).toEqual(Object.values(fields));
  } finally {
    await client.hdel('#rollgate:notes', ...Object.keys(fields));
  }
});

test('errors name what is missing in the store', async () => {
  const url = `${redis.url}/5`;
  expect((await rollgate(['top', url])).stderr).toContain('Call `describeLimiter(limiter)` of @rollgate/core/observe');
  const none = await rollgate(['inspect', redis.url, 'ann', '--limiter', 'apu']);
  expect(none).toMatchObject({ code: 2, stderr: expect.stringContaining('Expected `--limiter` to be one of ') });
  const blocked = await rollgate(['block', redis.url, 'ann', '1h', '--limiter', 'one']);
  expect(blocked).toMatchObject({ code: 2, stderr: expect.stringContaining('Add `blocked: block()` to its `limits`') });
});

test('limits that only the app can read are left out, and named', async () => {
  const { store, url } = places['SQLite']!;
  const known = { algorithm: 'rolling-window', options: { limit: 5, window: '1h', enforce: false } };
  const write = (name: string, own: object) => {
    const description = { name, prefix: name, limits: { known }, store: {}, ...own };
    return store.inspection!.writeNote(name, JSON.stringify(description), 3_600_000);
  };
  await write('leased', { store: { leasing: 'true' } });
  await write('odd\u001b', { limits: { own: { algorithm: 'own' }, known } });
  const leased = await rollgate(['top', url, '--limiter', 'leased']);
  expect(leased.stderr).toBe(
    'rollgate: Left out leased, because its LeasingStore keeps other limits, which only your app can read\n',
  );
  const odd = await rollgate(['inspect', url, 'ann', '--limiter', 'odd\u001b']);
  expect(odd.stderr).toBe(
    'rollgate: Left out own of odd\\u001b, because this version of the command line cannot read it\n',
  );
  expect(cellsOf(odd.stdout)[3]).toBe('odd\\u001b | known | 5 per 1h, not enforced | 0 | 5 | allows');
});

/** Makes Node find no driver of Redis. */
const HIDE = `import Module from 'node:module';
const resolve = Module._resolveFilename;
Module._resolveFilename = (name, ...rest) => {
  if (/redis|iovalkey/.test(name)) throw new Error(name);
  return resolve(name, ...rest);
};`;

test('a project without a driver gets the command that installs one', async () => {
  const nodeOptions = ['--import', `data:text/javascript,${encodeURIComponent(HIDE)}`];
  const { code, stderr } = await rollgate(['top', redis.url], { nodeOptions });
  expect(code).toBe(1);
  expect(stderr).toContain(
    'Expected `ioredis` or `redis` or `iovalkey` in the project of this folder, got none. Run `npm install ioredis` first',
  );
});

test('reads the keys of a Cluster, and those of a client with a prefix', async () => {
  const cluster = await RedisCluster.start(3);
  const nodes = new Cluster(cluster.nodes.map(({ port }) => ({ host: '127.0.0.1', port })));
  const prefixed = new Redis(redis.url, { keyPrefix: 'app:' });
  try {
    for (const clusterSlot of ['key', 'prefix'] as const) {
      const limiter = await open(new RedisStore({ client: nodes, clusterSlot }), clusterSlot, '5/1h');
      for (let user = 0; user < 30; user++) await limiter.check(`user:${user}`);
      const { states } = await json('top', cluster.nodes[1]!.url, '--cluster', '--limiter', clusterSlot);
      expect(states).toBe(30);
    }
    const limiter = await open(new RedisStore({ client: prefixed, log: 'sorted-set' }), 'prefixed', '5/1h');
    await limiter.check('ann');
    const { top } = await json('top', redis.url, '--key-prefix', 'app:', '--limiter', 'prefixed');
    expect(top).toMatchObject([{ key: 'ann', used: 1 }]);
  } finally {
    nodes.disconnect();
    prefixed.disconnect();
    await cluster.stop();
  }
});

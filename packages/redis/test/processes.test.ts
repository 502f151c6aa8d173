import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { RedisStoreOptions } from '@rollgate/redis';
import { RedisServer, until } from '@rollgate/test-support';
import { effort } from '@rollgate/test-support/effort';
import { PrivateRedis } from './support/private-redis.js';
import { readHitTimes } from './support/read-hits.js';
import { ScriptProcess } from './support/script-process.js';
import type { Log } from './support/some-redis.js';

describe('processes', () => {
  const redis = PrivateRedis.forThisFile();

  const PROCESSES = effort(3, 8);
  const SECONDS = effort(0.8, 30);
  const names = Array.from({ length: PROCESSES }, (_, index) => `hammer-${index}`);

  interface Task {
    readonly prefix: string;
    /** Windows are in milliseconds. */
    readonly limits: Readonly<Record<string, { readonly limit: number; readonly window: number }>>;
    /** By the name of each limit. What was allowed is recorded by the key of the limit `record`, which is never full. */
    readonly keys: readonly Readonly<Record<string, string>>[];
  }

  const shared = ['same', 'other', ...names];
  /** The processes share some keys, and each has one that no other process uses. The windows roll many times, and the limits are soon full. */
  const TASKS: readonly Task[] = [
    {
      prefix: 'single',
      limits: { one: { limit: 40, window: 250 } },
      keys: shared.map((key) => ({ one: key, record: key })),
    },
    {
      prefix: 'together',
      limits: { burst: { limit: 10, window: 100 }, steady: { limit: 60, window: 1000 } },
      keys: shared.map((key) => ({ burst: key, steady: key, record: key })),
    },
    {
      prefix: 'apart',
      limits: { caller: { limit: 15, window: 300 }, all: { limit: 70, window: 500 } },
      keys: names.map((caller) => ({ caller, all: 'all', record: caller })),
    },
  ];

  /** What a process has seen. Its clock counts whole milliseconds. */
  interface Report {
    readonly allowed: readonly (readonly number[])[];
    readonly rejections: readonly (readonly [task: number, key: number, startMs: number, endMs: number])[];
    readonly failed: number;
  }

  /** When the server allowed the checks of a limit's key, in microseconds and in order. */
  interface Admitted {
    readonly limit: number;
    readonly windowMicros: number;
    readonly times: number[];
  }

  const idOf = ({ prefix }: Task, name: string, key: string) => `${prefix} ${name} ${key}`;

  /** Reads what the server has recorded: the checks of each key of a task, and those that each limit has counted. */
  async function readRecords(log: Log) {
    const client = redis.connect();
    const counts: number[][] = [];
    const admitted = new Map<string, Admitted>();
    for (const task of TASKS) {
      const records = task.keys.map(({ record }) => readHitTimes(client, log, `${task.prefix}:{${record}}:record`));
      const times = await Promise.all(records);
      counts.push(times.map(({ length }) => length));
      for (const [index, key] of task.keys.entries()) {
        for (const [name, { limit, window }] of Object.entries(task.limits)) {
          const id = idOf(task, name, key[name]!);
          const one = admitted.get(id) ?? { limit, windowMicros: window * 1000, times: [] };
          one.times.push(...times[index]!);
          admitted.set(id, one);
        }
      }
    }
    for (const { times } of admitted.values()) times.sort((one, other) => one - other);
    return { counts, admitted };
  }

  const isFullAt = ({ limit, windowMicros, times }: Admitted, micros: number) =>
    times.filter((time) => time > micros - windowMicros && time <= micros).length >= limit;

  /** The rejections during which no limit was full at any moment between the check and its result. */
  function unjustified({ rejections }: Report, admitted: ReadonlyMap<string, Admitted>) {
    return rejections.filter(([taskIndex, keyIndex, startMs, endMs]) => {
      const task = TASKS[taskIndex]!;
      const [from, to] = [(startMs - 1) * 1000, (endMs + 1) * 1000];
      return !Object.keys(task.limits).some((name) => {
        const one = admitted.get(idOf(task, name, task.keys[keyIndex]![name]!))!;
        return [from, ...one.times.filter((time) => time > from && time <= to)].some((moment) => isFullAt(one, moment));
      });
    });
  }

  /** Lets all processes check their keys while `disturb` runs again and again, and compares what they saw with the records. */
  async function hammer(
    kind: string,
    log: Log,
    denialCache: RedisStoreOptions['denialCache'],
    disturb = async () => {},
  ) {
    await redis.server.run('FLUSHALL');
    const options = { url: redis.server.url, kind, log, denialCache, tasks: TASKS };
    const processes = names.map((name) => new ScriptProcess('hammer.mjs', { ...options, name }));
    try {
      await Promise.all(processes.map((process) => process.request('start')));
      const startMs = performance.now();
      await until('all processes were rejected often enough', async () => {
        await disturb();
        const rejected = await Promise.all(processes.map((process) => process.request('rejected')));
        return performance.now() - startMs > SECONDS * 1000 && rejected.every((count) => Number(count) > 20);
      });
      const reports = (await Promise.all(processes.map((process) => process.request('stop')))) as Report[];
      const { counts, admitted } = await readRecords(log);
      for (const { limit, windowMicros, times } of admitted.values()) {
        expect(times.filter((time, index) => time - (times[index - limit] ?? -Infinity) < windowMicros)).toEqual([]);
      }
      for (const report of reports) expect(unjustified(report, admitted)).toEqual([]);
      const allowed = TASKS.map(({ keys }, task) =>
        keys.map((_, key) => reports.reduce((sum, report) => sum + report.allowed[task]![key]!, 0)),
      );
      return { allowed, counts, failed: reports.reduce((sum, { failed }) => sum + failed, 0) };
    } finally {
      for (const process of processes) process.kill();
    }
  }

  type Kind = readonly [log: Log, kind: 'ioredis' | 'node-redis', denialCache: RedisStoreOptions['denialCache']];

  test.each([
    ...effort<Kind[]>([], [['packed', 'ioredis', false]]),
    ['sorted-set', 'ioredis', false],
    ['packed', 'node-redis', {}],
  ] satisfies Kind[])(
    `${PROCESSES} processes decide as one: %s, %s, denialCache: %j`,
    async (log, kind, denialCache) => {
      const { allowed, counts, failed } = await hammer(kind, log, denialCache);
      expect(allowed).toEqual(counts);
      expect(failed).toBe(0);
    },
  );

  test.each([['packed', 'ioredis', {}], ...effort<Kind[]>([], [['sorted-set', 'node-redis', false]])] satisfies Kind[])(
    'even while scripts are flushed and connections killed: %s, %s, denialCache: %j',
    async (log, kind, denialCache) => {
      let killed = 0;
      const { allowed, counts } = await hammer(kind, log, denialCache, async () => {
        await redis.server.run('SCRIPT', 'FLUSH');
        const clients = (await redis.server.run('CLIENT', 'LIST')) as string;
        const ids = [...clients.matchAll(/^id=(\d+) .*name=hammer-/gm)].map(([, id]) => id!);
        const victim = ids[killed % ids.length];
        if (victim !== undefined) killed += Number(await redis.server.run('CLIENT', 'KILL', 'ID', victim));
      });
      expect(killed).toBeGreaterThan(5);
      // Hits that were recorded without a result, or twice, count too much. No action is allowed in excess.
      for (const [task, keys] of allowed.entries()) {
        for (const [key, count] of keys.entries()) expect(count).toBeLessThanOrEqual(counts[task]![key]!);
      }
    },
  );
});

describe('the end of a process', () => {
  /** How a process opens and closes each client. GLIDE keeps a process for some seconds while it connects. */
  const CLIENTS = {
    ioredis: `
    import { Redis } from 'ioredis';
    const client = new Redis(port).on('error', () => {});
    const close = () => client.disconnect();`,
    'node-redis': `
    import { createClient } from 'redis';
    const client = createClient({ socket: { port } }).on('error', () => {});
    client.connect().catch(() => {});
    const close = () => client.destroy();`,
    ...effort(
      {},
      {
        iovalkey: `
        import { Redis } from 'iovalkey';
        const client = new Redis(port).on('error', () => {});
        const close = () => client.disconnect();`,
        '@upstash/redis': `
        import { Redis } from '@upstash/redis';
        const client = new Redis({ url: 'http://127.0.0.1:' + port, token: 'x', retry: { retries: 1, backoff: () => 9 } });
        const close = () => {};`,
        'Valkey GLIDE': `
        import { GlideClient, Logger } from '@valkey/valkey-glide';
        Logger.setLoggerConfig('off');
        const client = await GlideClient.createClient({ addresses: [{ host: '127.0.0.1', port }], lazyConnect: true });
        const close = () => client.close();`,
      },
    ),
  };

  test.each(Object.entries(CLIENTS))(
    'a process whose server has ended ends without `process.exit` after it closes its client: %s',
    async (_, opening) => {
      const server = await RedisServer.start();
      await server.stop();
      const script = `
      import { RateLimiter, rollingWindow } from '@rollgate/core';
      import { RedisStore } from '@rollgate/redis';
      const port = ${server.port};
      ${opening}
      const limits = rollingWindow({ limit: 10, window: '1h' });
      const store = new RedisStore({ client });
      const limiter = new RateLimiter({ limits, store, timeout: 200, onStoreError: 'fallback' });
      const pending = new RateLimiter({ limits, store, timeout: '2s', onStoreError: 'deny' }).check('bob');
      for (let call = 0; call < 3; call++) console.log((await limiter.check('ann')).remaining);
      close();
      console.log((await pending).degraded); // ioredis may never settle it, so the deadline does.
    `;
      const { stdout, stderr } = await promisify(execFile)(
        process.execPath,
        ['--input-type=module', '--eval', script],
        {
          cwd: `${__dirname}/..`, // Here the built packages are found by name.
          timeout: 100_000,
        },
      );
      expect(stdout).toBe('9\n8\n7\ndeny\n');
      expect(stderr.split('\n').filter((line) => line.includes('RollgateWarning'))).toEqual([
        expect.stringContaining('[ROLLGATE_STORE_FAILED] RollgateWarning: The store'),
      ]);
    },
  );
});

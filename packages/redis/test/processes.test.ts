import { RedisServer, until } from '@rollgate/test-support';
import { effort } from '@rollgate/test-support/effort';
import { Hammer, type HammerOptions, type ProcessReport, type Task } from './support/hammers.js';
import { NaiveReplay, redisKeysOf } from './support/naive-replay.js';
import { ScriptRecord } from './support/script-record.js';

let server: RedisServer;
beforeAll(async () => {
  server = await RedisServer.start();
});
afterAll(() => server.stop());

const PROCESSES = effort(3, 8);
const SECONDS = effort(0.8, 30);
const SCRIPTS = effort(400, 1000);
/** How often each process at least checks its own key. */
const TIMES_EACH = 3;

const names = Array.from({ length: PROCESSES }, (_, index) => `hammer-${index}`);

/**
 * All processes share some keys, and each has one key that no other process uses. The windows roll many times, and the limits are soon full. A window
 * must not pass while a busy machine interrupts a script, because Redis would then expire a key that the script just wrote.
 */
const TASKS: readonly Task[] = [
  { prefix: 'tight', limits: { default: { limit: 1, window: 100 } }, keys: ['same'] },
  { prefix: 'single', limits: { default: { limit: 40, window: 250 } }, keys: ['same', 'other', ...names] },
  {
    prefix: 'together',
    limits: { burst: { limit: 10, window: 100 }, steady: { limit: 60, window: 1000 } },
    keys: ['same', 'other', ...names],
  },
  {
    prefix: 'apart',
    limits: { caller: { limit: 15, window: 300 }, all: { limit: 70, window: 500 } },
    keys: names.map((caller) => ({ caller, all: 'all' })),
  },
];

const now = async () => {
  const [seconds, micros] = (await server.run('TIME')) as [string, string];
  return Number(seconds) + Number(micros) / 1e6;
};

/** Collects the decisions of all processes and the scripts of the server while `done` repeatedly disturbs it. */
async function hammer(
  options: Omit<HammerOptions, 'url' | 'name' | 'tasks'>,
  done: () => Promise<void> = async () => {},
): Promise<{ reports: ProcessReport[]; record: ScriptRecord }> {
  await server.run('FLUSHALL');
  const record = await ScriptRecord.start(server.url);
  const hammers = names.map((name) => new Hammer({ ...options, url: server.url, name, tasks: TASKS }));
  try {
    const haveRequested = (times: number) =>
      names.every((name) => (record.readCounts.get(`single:{${name}}:default`) ?? 0) >= times);
    await until('all processes are at it', async () => haveRequested(1));
    const start = await now();
    await until('all processes have checked their keys', async () => {
      await done();
      return (await now()) - start > SECONDS && record.scripts.length > SCRIPTS && haveRequested(TIMES_EACH);
    });
    const reports = await Promise.all(hammers.map((one) => one.stop()));
    await record.complete();
    return { reports, record };
  } finally {
    record.stop();
    for (const one of hammers) one.kill();
  }
}

/** Checks each single decision of the server against the naive log's. */
function replay({ scripts }: ScriptRecord): NaiveReplay {
  const replay = new NaiveReplay(TASKS);
  expect(scripts.map(({ keyReads }) => keyReads)).toEqual(scripts.map((script) => replay.run(script)));
  for (const { limit, windowMicros, times } of replay.admitted.values()) {
    const tooClose = times.filter((time, index) => time - (times[index - limit] ?? -Infinity) < windowMicros);
    expect(tooClose).toEqual([]);
  }
  expect(replay.decided).toBeGreaterThan(1000);
  return replay;
}

/** Compares how often each key was allowed with how often the server recorded it. */
function* counts(reports: readonly ProcessReport[], replay: NaiveReplay) {
  for (const [taskIndex, task] of TASKS.entries()) {
    for (const [keyIndex, key] of task.keys.entries()) {
      const [redisKey] = redisKeysOf(task, key);
      const allowedCount = reports.reduce((sum, { allowed }) => sum + allowed[taskIndex]![keyIndex]!, 0);
      yield [allowedCount, replay.admitted.get(redisKey!)!.times.length] as const;
    }
  }
}

type Kind = readonly [HammerOptions['log'], HammerOptions['kind'], HammerOptions['denialCache']];

test.each([
  ...effort<Kind[]>([], [['packed', 'ioredis', false]]),
  ['sorted-set', 'ioredis', false],
  ['packed', 'node-redis', {}],
] satisfies Kind[])(`${PROCESSES} processes decide as one: %s, %s, denialCache: %j`, async (log, kind, denialCache) => {
  const { reports, record } = await hammer({ log, kind, denialCache });
  const replayed = replay(record);
  for (const [allowed, recorded] of counts(reports, replayed)) expect(allowed).toBe(recorded);
  for (const one of reports) {
    expect(one.rejections.length).toBeGreaterThan(10);
    expect(replayed.unjustifiedRejections(one)).toEqual([]);
    expect(one.failed).toBe(0);
  }
});

test.each([['packed', 'ioredis', {}], ...effort<Kind[]>([], [['sorted-set', 'node-redis', false]])] satisfies Kind[])(
  'even while scripts are flushed and connections killed: %s, %s, denialCache: %j',
  async (log, kind, denialCache) => {
    let killed = 0;
    const { reports, record } = await hammer({ log, kind, denialCache }, async () => {
      await server.run('SCRIPT', 'FLUSH');
      const clients = (await server.run('CLIENT', 'LIST')) as string;
      const ids = [...clients.matchAll(/^id=(\d+) .*name=hammer-/gm)].map(([, id]) => id!);
      const victim = ids[Math.floor(Math.random() * ids.length)];
      if (victim !== undefined) killed += Number(await server.run('CLIENT', 'KILL', 'ID', victim));
    });
    expect(killed).toBeGreaterThan(5);
    const replayed = replay(record);
    // Hits that were recorded without a result, or twice, count too much. No action is allowed in excess.
    for (const [allowed, recorded] of counts(reports, replayed)) expect(allowed).toBeLessThanOrEqual(recorded);
    for (const one of reports) {
      expect(one.rejections.length).toBeGreaterThan(10);
      expect(replayed.unjustifiedRejections(one)).toEqual([]);
    }
  },
);

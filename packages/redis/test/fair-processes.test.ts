import { until } from '@rollgate/test-support';
import { effort } from '@rollgate/test-support/effort';
import { PrivateRedis } from './support/private-redis.js';
import { freshPrefix } from './support/some-redis.js';
import { type CallRecord, tooCloseMs } from './support/start-records.js';
import { WaitingProcess } from './support/waiting-processes.js';

const redis = PrivateRedis.forThisFile();

const LIMIT = 4;
const WINDOW = 400;
/** How much the clocks of the processes and of the server may differ within a window. */
const CLOCKS_MS = 2;
const EACH = effort(4, 12);

type Disturbance = (processes: readonly WaitingProcess[]) => Promise<void> | void;

/** Several processes wait for one key, and something happens to them. All that survive start all of their calls. */
async function disturb(disturbance: Disturbance, { countVictims = 0, keepsData = true } = {}): Promise<void> {
  const options = { url: redis.server.url, prefix: freshPrefix(), limit: LIMIT, window: WINDOW, lease: '1s' };
  const records = new Map<string, CallRecord>();
  const processes = Array.from(
    { length: 4 },
    (_, process) =>
      new WaitingProcess(options, ({ index, ...message }) => {
        const name = `${process} ${index}`;
        records.set(name, { index, process, cost: 1, ...records.get(name), ...message });
      }),
  );
  try {
    await Promise.all(processes.map((process) => process.prepare()));
    for (const process of processes) process.callAll(EACH);
    await until('some have started', async () => processes.some(({ startedMs }) => startedMs.length > 0));
    await disturbance(processes);
    await Promise.all(processes.slice(countVictims).map((process) => process.done()));
    for (const process of processes.slice(countVictims)) expect(process.startedMs).toHaveLength(EACH);
    if (!keepsData) return;
    expect(tooCloseMs([...records.values()], LIMIT, WINDOW)).toBeLessThanOrEqual(CLOCKS_MS);
  } finally {
    for (const process of processes) process.kill();
  }
}

test('half of the processes are killed', async () => {
  await disturb(
    (processes) => {
      for (const process of processes.slice(0, 2)) process.kill();
    },
    { countVictims: 2 },
  );
});

test('a process is stopped for longer than its lease, and does not start on old turns', async () => {
  await disturb(async ([first]) => {
    first!.pause();
    await until('its lease has ended', async () => {
      const [owners, tickets] = await Promise.all([countLive(), countTickets()]);
      return tickets === 0 || owners < 4;
    });
    first!.resume();
  });
});

test.each([
  ['for less than the window', 400],
  ['for longer than the window', 900],
])('a start counts from its turn if the process stands still in between %s', async (_, longMs) => {
  const options = { url: redis.server.url, prefix: freshPrefix(), limit: 1, window: 600, lease: '1s' };
  const records: CallRecord[] = [];
  const processes = [longMs, 0].map(
    (stallMs, process) =>
      new WaitingProcess({ ...options, stallMs }, (message) => {
        records[process] = { process, cost: 1, ...records[process], ...message };
      }),
  );
  try {
    await Promise.all(processes.map((process) => process.prepare()));
    const key = `${options.prefix}:{api}:default`;
    processes[0]!.callAll(1);
    await until('it has its turn', async () => (await redis.server.run('EXISTS', key)) === 1);
    processes[1]!.callAll(1);
    await Promise.all(processes.map((process) => process.done()));
    expect(tooCloseMs(records, 1, options.window)).toBeLessThanOrEqual(CLOCKS_MS);
  } finally {
    for (const process of processes) process.kill();
  }
});

test('scripts are flushed and connections killed', async () => {
  await disturb(async () => {
    for (let round = 0; round < 3; round++) {
      await redis.server.run('SCRIPT', 'FLUSH');
      await redis.server.run('CLIENT', 'KILL', 'TYPE', round === 1 ? 'normal' : 'pubsub', 'SKIPME', 'yes');
    }
  });
});

test('the server starts again without its data', async () => {
  await disturb(() => redis.server.restart(), { keepsData: false });
});

const keyOfQueue = async () => ((await redis.server.run('KEYS', '*{api}*/q')) as string[])[0] ?? 'none';

async function countTickets(): Promise<number> {
  return Number(await redis.server.run('ZCOUNT', await keyOfQueue(), '0', '+inf'));
}

/** How many owners of tickets have a lease that has not ended. */
async function countLive(): Promise<number> {
  const [seconds] = (await redis.server.run('TIME')) as [string, string];
  return Number(await redis.server.run('ZCOUNT', await keyOfQueue(), '-inf', `(${-4000 * Number(seconds)}`));
}

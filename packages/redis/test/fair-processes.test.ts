import { until } from '@rollgate/test-support';
import { effort } from '@rollgate/test-support/effort';
import { PrivateRedis } from './support/private-redis.js';
import { freshPrefix } from './support/some-redis.js';
import { WaitingProcess } from './support/waiting-processes.js';

const redis = PrivateRedis.forThisFile();

const LIMIT = 4;
const WINDOW = 400;
/** How late an action may start after its turn on a busy machine. The explorer checks the turns themselves exactly. */
const SLACK_MS = 250;
const EACH = effort(4, 12);

type Disturbance = (processes: readonly WaitingProcess[]) => Promise<void> | void;

/** Several processes wait for one key, and something happens to them. All that survive start all of their calls. */
async function disturb(disturbance: Disturbance, { countVictims = 0, keepsData = true } = {}): Promise<void> {
  const options = { url: redis.server.url, prefix: freshPrefix(), limit: LIMIT, window: WINDOW, lease: '1s' };
  const processes = Array.from({ length: 4 }, () => new WaitingProcess(options));
  try {
    await Promise.all(processes.map((process) => process.prepare()));
    for (const process of processes) process.callAll(EACH);
    await until('some have started', async () => processes.some(({ startedMs }) => startedMs.length > 0));
    await disturbance(processes);
    await Promise.all(processes.slice(countVictims).map((process) => process.done()));
    for (const process of processes.slice(countVictims)) expect(process.startedMs).toHaveLength(EACH);
    if (!keepsData) return;
    const starts = processes.flatMap(({ startedMs }) => startedMs).sort((one, other) => one - other);
    const tooClose = starts.filter((time, index) => time - (starts[index - LIMIT] ?? -Infinity) < WINDOW - SLACK_MS);
    expect(tooClose).toEqual([]);
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

import type { RedisServer } from '@rollgate/test-support';
import type { Effort } from '../effort.js';
import { median } from '../statistics.js';
import { whole } from '../table.js';
import { Worker } from '../worker.js';
import { CLIENT_CORE } from './check-workers.js';
import type { RedisRow } from './columns.js';
import type { GrowthTask } from './growth-worker.js';
import { readFigures, resetFigures } from './server-figures.js';
import { type RedisSubjectName, ROLLGATES } from './subjects.js';

/** Checks before the first limit, so that its figure does not include compilation. */
const WARM_UP = 10_000;

const LOGS = { rollgate: [], 'rollgate, sorted-set': ['sorted-set'] };

type GrowthWorker = Worker<GrowthTask, number>;

interface Growth {
  readonly serverMicros: number;
  readonly clientMicros: number;
}

/** Measures Rollgate's checks for growing limits with a full log, so one hit leaves the window for each new one. */
export async function measureGrowth(server: RedisServer, effort: Effort['redis']['growth']): Promise<RedisRow[]> {
  const workers = await Promise.all(
    ROLLGATES.map(async (name) => ({
      name,
      worker: await Worker.start<GrowthTask, number>('redis/growth-worker.ts', {
        args: [server.url, ...LOGS[name]],
        core: CLIENT_CORE,
      }),
    })),
  );
  try {
    for (const { worker } of workers) await fill(server, worker, WARM_UP);
    const rows: RedisRow[] = [];
    for (const limit of effort.limits) {
      const cells: Partial<Record<RedisSubjectName, string>> = {};
      for (const { name, worker } of workers) {
        const { serverMicros, clientMicros } = await measureOne(server, worker, limit, effort);
        cells[name] = `${serverMicros.toFixed(1)} server, ${clientMicros.toFixed(1)} client`;
      }
      rows.push({ what: `CPU µs/check, limit ${whole(limit)}, log full`, cells });
    }
    return rows;
  } finally {
    await Promise.all(workers.map(({ worker }) => worker.stop()));
  }
}

async function measureOne(
  server: RedisServer,
  worker: GrowthWorker,
  limit: number,
  { rounds, checks }: Effort['redis']['growth'],
): Promise<Growth> {
  await fill(server, worker, limit);
  const serverMicros: number[] = [];
  const clientMicros: number[] = [];
  for (let round = 0; round < rounds; round++) {
    await resetFigures(server);
    clientMicros.push(await worker.run({ limit, checks }));
    serverMicros.push((await readFigures(server)).micros / checks);
  }
  return { serverMicros: median(serverMicros), clientMicros: median(clientMicros) };
}

async function fill(server: RedisServer, worker: GrowthWorker, limit: number): Promise<void> {
  await server.run('FLUSHALL');
  await worker.run({ limit, checks: limit });
}

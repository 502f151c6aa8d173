import type { RedisServer } from '@rollgate/test-support';
import type { Effort } from '../effort.js';
import { median } from '../statistics.js';
import { whole } from '../table.js';
import { type Checker, startCheckers } from './check-workers.js';
import type { RedisRow } from './columns.js';
import { readFigures, resetFigures } from './server-figures.js';
import { type RedisSubjectName, ROLLGATES } from './subjects.js';

const WINDOW_MS = 60_000;
/** Added to each interval, because rounding could make one too short. */
const MICROSECOND_MS = 0.001;
/** Checks before the first limit, so that its figure does not include compilation. */
const WARM_UP = 10_000;

interface Growth {
  readonly serverMicros: number;
  readonly clientMicros: number;
}

/** Measures Rollgate's checks for growing limits with a full log, so one hit leaves the window for each new one. */
export async function measureGrowth(server: RedisServer, effort: Effort['redis']['growth']): Promise<RedisRow[]> {
  await using checkers = await startCheckers(server.url, ROLLGATES);
  for (const checker of checkers) await fill(server, checker, WARM_UP);
  const rows: RedisRow[] = [];
  for (const limit of effort.limits) {
    const cells: Partial<Record<RedisSubjectName, string>> = {};
    for (const checker of checkers) {
      const { serverMicros, clientMicros } = await measureOne(server, checker, limit, effort);
      cells[checker.name] = `${serverMicros.toFixed(1)} server, ${clientMicros.toFixed(1)} client`;
    }
    rows.push({ what: `CPU µs/check, limit ${whole(limit)}, log full`, cells });
  }
  return rows;
}

async function measureOne(
  server: RedisServer,
  checker: Checker,
  limit: number,
  { rounds, checks }: Effort['redis']['growth'],
): Promise<Growth> {
  await fill(server, checker, limit);
  const serverMicros: number[] = [];
  const clientMicros: number[] = [];
  for (let round = 0; round < rounds; round++) {
    await resetFigures(server);
    clientMicros.push(await check(checker, limit, checks));
    serverMicros.push((await readFigures(server)).micros / checks);
  }
  return { serverMicros: median(serverMicros), clientMicros: median(clientMicros) };
}

async function fill(server: RedisServer, checker: Checker, limit: number): Promise<void> {
  await server.run('FLUSHALL');
  await check(checker, limit, limit);
}

/** Checks one key at even intervals, as often in a window as the limit allows. Returns the microseconds per check. */
async function check({ name, worker }: Checker, limit: number, checks: number): Promise<number> {
  const settings = { limit, windowMs: WINDOW_MS, stepMs: WINDOW_MS / limit + MICROSECOND_MS };
  const { cpuMicros, rejected } = await worker.run({ settings, keyCount: 1, checks, inFlight: 1 });
  if (rejected > 0)
    throw new Error(`Expected all of ${checks} checks of ${name} to be allowed, got ${rejected} rejections`);
  return cpuMicros;
}

import type { RedisServer } from '@rollgate/test-support';
import { type Figure, toFigure, whole } from '../table.js';
import { type Checker, startCheckers } from './check-workers.js';
import type { RedisRow } from './columns.js';
import { readFigures, resetFigures } from './server-figures.js';
import { LIBRARIES, type RedisSubjectName } from './subjects.js';

const LIMIT = 10;
const SETTINGS = { limit: LIMIT, windowMs: 60_000 };
const CHECKS = 10_000;
const IN_FLIGHT = 64;

/** This library records rejected checks and reads all of them in each check. It gets a tenth of the checks, and its figure is multiplied. */
const SLOW: RedisSubjectName = 'rolling-rate-limiter';

/** Counts the commands that reach the server during a flood of rejected checks of one key. */
export async function measureFlood(server: RedisServer): Promise<RedisRow[]> {
  await using checkers = await startCheckers(server.url, LIBRARIES);
  const cells: Partial<Record<RedisSubjectName, Figure>> = {};
  for (const checker of checkers) cells[checker.name] = toFigure(await measureOne(server, checker), whole);
  return [{ what: `commands for ${whole(CHECKS)} rejected checks of one key`, cells }];
}

async function measureOne(server: RedisServer, { name, worker }: Checker): Promise<number> {
  await server.run('FLUSHALL');
  await worker.run({ settings: SETTINGS, keyCount: 1, checks: LIMIT + 1, inFlight: 1 }); // The last of these checks is the first rejection.
  await resetFigures(server);
  const checks = name === SLOW ? CHECKS / 10 : CHECKS;
  const { rejected } = await worker.run({ settings: SETTINGS, keyCount: 1, checks, inFlight: IN_FLIGHT });
  if (rejected !== checks) throw new Error(`Expected ${name} to reject ${checks} checks, got ${rejected} rejections`);
  const { commands } = await readFigures(server);
  return (commands * CHECKS) / checks;
}

import type { RedisServer } from '@rollgate/test-support';
import { atMostOf, whole } from '../table.js';
import { type Checker, withCheckers } from './check-workers.js';
import type { RedisRow } from './columns.js';
import { readFigures, resetFigures } from './server-figures.js';
import { BASELINE, LIBRARIES, type RedisSubjectName } from './subjects.js';

const LIMIT = 10;
const CHECKS = 10_000;
const IN_FLIGHT = 64;

/** This library records rejected checks and reads all of them in each check. It gets a tenth of the checks, and its figure is multiplied. */
const SLOW: RedisSubjectName = 'rolling-rate-limiter';

interface Flood {
  readonly commands: number;
  readonly seconds: number;
}

/** Counts the commands that reach the server during a flood of rejected checks of one key. */
export async function measureFlood(server: RedisServer): Promise<RedisRow[]> {
  return withCheckers(server, LIBRARIES, LIMIT, async (checkers) => {
    const cells: RedisRow['cells'] = {};
    let goals: RedisRow['goals'] = [];
    for (const checker of checkers) {
      const { commands, seconds } = await measureOne(server, checker);
      cells[checker.name] = whole(commands);
      if (checker.name === BASELINE) goals = [atMostOf(1, 'command per second', commands / Math.ceil(seconds))];
    }
    return [{ what: `commands for ${whole(CHECKS)} rejected checks of one key`, cells, goals }];
  });
}

async function measureOne(server: RedisServer, { name, worker }: Checker): Promise<Flood> {
  await server.run('FLUSHALL');
  await worker.run({ keyCount: 1, checks: LIMIT + 1, inFlight: 1 }); // The last of these checks is the first rejection.
  await resetFigures(server);
  const checks = name === SLOW ? CHECKS / 10 : CHECKS;
  const { rejected, seconds } = await worker.run({ keyCount: 1, checks, inFlight: IN_FLIGHT });
  if (rejected !== checks) throw new Error(`Expected ${name} to reject ${checks} checks, got ${rejected} rejections`);
  const { commands } = await readFigures(server);
  return { commands: (commands * CHECKS) / checks, seconds };
}

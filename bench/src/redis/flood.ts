import type { RedisServer } from '@rollgate/test-support';
import { atMostOf, whole } from '../table.js';
import { type Checker, withCheckers } from './check-workers.js';
import type { RedisRow } from './columns.js';
import { readFigures, resetFigures } from './server-figures.js';
import { LIBRARIES, OURS, type RedisSubjectName } from './subjects.js';

const LIMIT = 10;
const CHECKS = 10_000;
const IN_FLIGHT = 64;

/** It records what it refuses, and reads all of it each time: it gets a tenth of the checks, and its figure tenfold. */
const SLOW: RedisSubjectName = 'rolling-rate-limiter';

interface Flood {
  readonly commands: number;
  readonly seconds: number;
}

/** What of a flood of refused checks of one key reaches the server. */
export async function measureFlood(server: RedisServer): Promise<RedisRow[]> {
  return withCheckers(server, LIBRARIES, LIMIT, async (checkers) => {
    const cells: RedisRow['cells'] = {};
    let bars: RedisRow['bars'] = [];
    for (const checker of checkers) {
      const { commands, seconds } = await measureOne(server, checker);
      cells[checker.name] = whole(commands);
      if (checker.name === OURS) bars = [atMostOf(1, 'command a second', commands / Math.ceil(seconds))];
    }
    return [{ what: `commands for ${whole(CHECKS)} refused checks of one key`, cells, bars }];
  });
}

async function measureOne(server: RedisServer, { name, worker }: Checker): Promise<Flood> {
  await server.run('FLUSHALL');
  await worker.ask({ keyCount: 1, checks: LIMIT + 1, inFlight: 1 }); // From the last of these on it is known.
  await resetFigures(server);
  const checks = name === SLOW ? CHECKS / 10 : CHECKS;
  const { refused, seconds } = await worker.ask({ keyCount: 1, checks, inFlight: IN_FLIGHT });
  if (refused !== checks) throw new Error(`${name} refused ${refused} of ${checks} checks`);
  const { commands } = await readFigures(server);
  return { commands: (commands * CHECKS) / checks, seconds };
}

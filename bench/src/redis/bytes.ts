import type { RedisServer } from '@rollgate/test-support';
import { atMostOf, versus, whole } from '../table.js';
import { type Checker, withCheckers } from './check-workers.js';
import type { RedisRow } from './columns.js';
import { LIBRARIES, OURS, type RedisSubjectName } from './subjects.js';

const HITS = [10, 100, 128, 1_000, 10_000] as const;
/** Up to here Redis keeps a sorted set as it keeps short lists. */
const SHORT = 128;
const LONG = 10_000;

type BytesAt = ReadonlyMap<number, number>;

/** What one key takes at the server, with ever more hits of cost 1, each made when the one before it was answered. */
export async function measureRedisBytes(server: RedisServer): Promise<RedisRow[]> {
  const measured = await withCheckers(server, LIBRARIES, LONG, async (checkers) => {
    const all: [RedisSubjectName, BytesAt][] = [];
    for (const checker of checkers) all.push([checker.name, await measureOne(server, checker)]);
    return new Map(all);
  });

  const rows = HITS.filter((hits) => hits !== SHORT).map((hits) =>
    toRow(`bytes per key with ${whole(hits)} hits`, (name) => measured.get(name)!.get(hits)!, whole),
  );
  const perHit = (name: RedisSubjectName) => {
    const bytesAt = measured.get(name)!;
    return (bytesAt.get(LONG)! - bytesAt.get(SHORT)!) / (LONG - SHORT);
  };
  const bars = [atMostOf(16, 'B', perHit(OURS))];
  return [...rows, { ...toRow(`bytes per hit beyond ${SHORT} hits`, perHit, (bytes) => bytes.toFixed(1)), bars }];
}

async function measureOne(server: RedisServer, { worker }: Checker): Promise<BytesAt> {
  await server.run('FLUSHALL');
  const bytesAt = new Map<number, number>();
  let hitsThere = 0;
  for (const hits of HITS) {
    await worker.ask({ keyCount: 1, checks: hits - hitsThere, inFlight: 1, recordOnly: true });
    hitsThere = hits;
    bytesAt.set(hits, await usedBytes(server));
  }
  return bytesAt;
}

/** Of all keys that are there, for a library may keep several for one of ours. */
async function usedBytes(server: RedisServer): Promise<number> {
  let bytes = 0;
  for (const key of (await server.run('KEYS', '*')) as string[]) {
    bytes += Number(await server.run('MEMORY', 'USAGE', key, 'SAMPLES', '0'));
  }
  return bytes;
}

function toRow(what: string, bytes: (name: RedisSubjectName) => number, write: (bytes: number) => string): RedisRow {
  const versusOurs = (name: RedisSubjectName) => {
    const ratio = bytes(OURS) / bytes(name);
    return name === OURS || !Number.isFinite(ratio) ? '' : versus(ratio); // A counter takes nothing for a hit.
  };
  return { what, cells: Object.fromEntries(LIBRARIES.map((name) => [name, write(bytes(name)) + versusOurs(name)])) };
}

import type { RedisServer } from '@rollgate/test-support';
import { compareFigures, tenths, whole } from '../table.js';
import { type Checker, startCheckers } from './check-workers.js';
import type { RedisRow } from './columns.js';
import { BASELINE, LIBRARIES, type RedisSubjectName } from './subjects.js';

const HITS = [10, 100, 128, 1_000, 10_000] as const;
/** Redis stores a sorted set of up to this many members compactly. */
const SHORT = 128;
const LONG = 10_000;

const SETTINGS = { limit: LONG, windowMs: 600_000 };

type BytesAt = ReadonlyMap<number, number>;

/** Measures the bytes of one key at the server, with a growing number of sequential hits of cost 1. */
export async function measureRedisBytes(server: RedisServer): Promise<RedisRow[]> {
  await using checkers = await startCheckers(server.url, LIBRARIES);
  const measured = new Map<RedisSubjectName, BytesAt>();
  for (const checker of checkers) measured.set(checker.name, await measureOne(server, checker));

  const rows = HITS.filter((hits) => hits !== SHORT).map((hits) =>
    toRow(`bytes per key with ${whole(hits)} hits`, (name) => measured.get(name)!.get(hits)!, whole),
  );
  const perHit = (name: RedisSubjectName) => {
    const bytesAt = measured.get(name)!;
    return (bytesAt.get(LONG)! - bytesAt.get(SHORT)!) / (LONG - SHORT);
  };
  return [...rows, toRow(`bytes per hit beyond ${SHORT} hits, up to ${whole(LONG)}`, perHit, tenths)];
}

async function measureOne(server: RedisServer, { worker }: Checker): Promise<BytesAt> {
  await server.run('FLUSHALL');
  const bytesAt = new Map<number, number>();
  let hitsThere = 0;
  for (const hits of HITS) {
    await worker.run({ settings: SETTINGS, keyCount: 1, checks: hits - hitsThere, inFlight: 1, recordOnly: true });
    hitsThere = hits;
    bytesAt.set(hits, await usedBytes(server));
  }
  return bytesAt;
}

/** The bytes of all keys at the server, because a library may use several Redis keys for one of the limiter's. */
async function usedBytes(server: RedisServer): Promise<number> {
  let bytes = 0;
  for (const key of (await server.run('KEYS', '*')) as string[]) {
    bytes += Number(await server.run('MEMORY', 'USAGE', key, 'SAMPLES', '0'));
  }
  return bytes;
}

function toRow(what: string, bytes: (name: RedisSubjectName) => number, write: (bytes: number) => string): RedisRow {
  return { what, cells: compareFigures(LIBRARIES, BASELINE, bytes, write) };
}

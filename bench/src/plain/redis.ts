import { type LoadFigures, measureLoad } from '../redis/load.js';
import type { RedisSubjectName } from '../redis/subjects.js';
import type { Workload } from '../redis/workloads.js';
import { withServer } from '../redis.js';
import { median } from '../statistics.js';
import type { PlainRow } from './row.js';

const EFFORT = { rounds: 7, warmUp: 40_000, keysAlone: 1_000, keysTogether: 8_000, checks: 32_000 };
const OTHER = 'rate-limit-redis' satisfies RedisSubjectName;

const newKeys = (inFlight: number): Workload => ({
  what: `${inFlight} in flight`,
  subjects: inFlight === 64 ? ['rollgate', OTHER, 'INCR'] : ['rollgate', OTHER],
  ...{ inFlight, keyCount: EFFORT.keysTogether, checks: EFFORT.keysTogether * 2, limit: 100 },
});
const REJECTED: Workload = {
  what: 'rejected, 64 in flight',
  subjects: ['rollgate', OTHER],
  ...{ inFlight: 64, keyCount: EFFORT.checks / 100, checks: EFFORT.checks, limit: 10, isRejected: true },
};

/** Compares checks at a private server. */
export async function measurePlainRedis(): Promise<PlainRow[]> {
  return withServer(async (server) => {
    const measured = await measureLoad(server, EFFORT, [newKeys(64), newKeys(256), REJECTED]);
    const ratio = (index: number, figure: keyof LoadFigures, other: RedisSubjectName) => {
      const { rounds } = measured[index]!;
      const theirs = rounds.get(other)!;
      return median(rounds.get('rollgate')!.map((ours, round) => ours[figure]! / theirs[round]![figure]!));
    };
    return [
      {
        what: `Redis, checks/s against ${OTHER}, 64 in flight`,
        value: ratio(0, 'perSecond', OTHER),
        bar: ['at least', 2.5],
      },
      {
        what: `Redis, checks/s against ${OTHER}, 256 in flight`,
        value: ratio(1, 'perSecond', OTHER),
        bar: ['at least', 3],
      },
      {
        what: `Redis, checks/s against ${OTHER}, rejected by the server`,
        value: ratio(2, 'perSecond', OTHER),
        bar: ['at least', 3],
      },
      {
        what: 'Redis, client CPU against INCR, 64 in flight',
        value: ratio(0, 'clientMicros', 'INCR'),
        bar: ['at most', 0.34],
      },
    ];
  });
}

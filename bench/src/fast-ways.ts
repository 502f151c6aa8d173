import type { Effort } from './effort.js';
import type { MemoryTask } from './fast-ways/memory-worker.js';
import { measureWays, toWaysRow, type Way } from './fast-ways/ways.js';
import type { Algorithm } from './limits.js';
import type { CheckResult, CheckTask } from './redis/check-loop.js';
import { CLIENT_CORE } from './redis/check-workers.js';
import { withServer } from './redis.js';
import { type Report, type Row, tenths, whole } from './table.js';
import { canPin } from './worker.js';

type FastWaysEffort = Effort['fastWays'];

/** What each fast way in memory decides, and what it does without. */
const IN_MEMORY: readonly [Algorithm, string][] = [
  ['rollingWindow', 'plain window, without the engine'],
  ['tokenBucket', 'token bucket, without lists'],
  ['fixedWindow', 'fixed window, without lists'],
];
const IN_FLIGHT = [48, 64, 128];

/** Measures the faster ways of special cases, next to the general way that could decide them too. */
export async function measureFastWays(effort: FastWaysEffort): Promise<Report<Way>> {
  const rows: Row<Way>[] = [];
  for (const [algorithm, what] of IN_MEMORY) rows.push(await measureInMemory(algorithm, what, effort));
  return withServer([], async (server, about) => {
    for (const inFlight of IN_FLIGHT) {
      const task = { keyCount: effort.redisChecks, checks: effort.redisChecks, inFlight };
      const rounds = await measureWays<CheckTask, CheckResult>(
        'fast-ways/redis-worker.ts',
        [server.url],
        CLIENT_CORE,
        effort.rounds,
        async (worker) => {
          await server.run('FLUSHALL');
          return worker.run(task);
        },
      );
      const what = `Redis, ${inFlight} in flight, batches in halves`;
      rows.push(toWaysRow(`${what}: checks/s`, rounds, ({ seconds }) => task.checks / seconds, whole));
      rows.push(toWaysRow(`${what}: client CPU µs/check`, rounds, ({ cpuMicros }) => cpuMicros, tenths));
    }
    return { headers: { fast: 'fast', general: 'general' }, rows, method: describeMethod(about, effort) };
  });
}

async function measureInMemory(
  algorithm: Algorithm,
  what: string,
  { rounds, checksPerKey }: FastWaysEffort,
): Promise<Row<Way>> {
  const results = await measureWays<MemoryTask, number>(
    'fast-ways/memory-worker.ts',
    [algorithm],
    CLIENT_CORE,
    rounds,
    (worker) => worker.run({ checksPerKey }),
  );
  return toWaysRow(`memory, ${what}: ns/check`, results, (ns) => ns, whole);
}

function describeMethod(about: string, { rounds, checksPerKey, redisChecks }: FastWaysEffort): string[] {
  return [
    about,
    `- **Rounds**: both ways in turns, each in its own process${canPin ? ' on the same core' : ', NOT pinned to a core'}. The figures are medians of ${rounds} rounds after a warm-up. The ratio is the median of the ratios of each round.`,
    `- **Memory**: 1,000 keys, ${whole(checksPerKey)} allowed checks of each in a round, with an injected clock. The general way replaces a function of the compiled package.`,
    `- **Redis**: ${whole(redisChecks)} checks of new keys in a round over TCP, ${canPin ? 'with the server on another core' : 'NOT pinned'}.`,
  ];
}

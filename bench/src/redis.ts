import { RedisServer } from '@rollgate/test-support';
import type { Effort, RedisLoad } from './effort.js';
import { versionOf } from './machine.js';
import { measureRedisBytes } from './redis/bytes.js';
import { SERVER_CORE } from './redis/check-workers.js';
import { redisHeaders } from './redis/columns.js';
import { measureFlood } from './redis/flood.js';
import { measureGrowth } from './redis/growth.js';
import { measureLoad } from './redis/load.js';
import { toLoadRows } from './redis/load-rows.js';
import { measureLongestScript } from './redis/longest-script.js';
import type { RedisSubjectName } from './redis/subjects.js';
import { type Report, type Row, whole } from './table.js';
import { canPin } from './worker.js';

type RedisReport = Report<RedisSubjectName>;

/** Measures checks of limiters that keep their state in Redis, on a private server without persistence. */
export async function measureRedisLoad(effort: RedisLoad): Promise<RedisReport> {
  return withServer(async (server, about) => {
    const rows = toLoadRows(await measureLoad(server, effort));
    return toReport(rows, [`${about} over TCP`, '', ...describeLoadMethod(effort)]);
  });
}

/** Measures what the state costs a private server: memory, commands in a flood, long scripts, growing limits. */
export async function measureRedisState(effort: Effort['redis']['growth']): Promise<RedisReport> {
  return withServer(async (server, about) => {
    const rows = [
      ...(await measureRedisBytes(server)),
      ...(await measureFlood(server)),
      ...(await measureLongestScript(server)),
      ...(await measureGrowth(server, effort)),
    ];
    return toReport(rows, [about, '', ...describeStateMethod(effort)]);
  });
}

/** Leaves out the columns without any cell. */
function toReport(rows: readonly Row<RedisSubjectName>[], method: readonly string[]): RedisReport {
  const used = Object.entries(redisHeaders()).filter(([name]) => rows.some(({ cells }) => name in cells));
  return { headers: Object.fromEntries(used) as RedisReport['headers'], rows, method };
}

/** Calls `use` with a private server and a line about it. */
export async function withServer<Result>(
  use: (server: RedisServer, about: string) => Promise<Result>,
): Promise<Result> {
  const server = await RedisServer.start(canPin ? { core: SERVER_CORE } : {});
  try {
    const [, version = 'unknown'] = /^redis_version:(\S+)/m.exec(String(await server.run('INFO', 'server'))) ?? [];
    return await use(server, `- Redis ${version}, ioredis ${versionOf('ioredis')}`);
  } finally {
    await server.stop();
  }
}

const RATIOS = "In parentheses: Rollgate's figure with its default log, divided by this one.";

function describeLoadMethod({ keysAlone, keysTogether, checks, rounds, warmUp }: RedisLoad): string[] {
  const pinning = canPin
    ? 'the server pinned to one core, the clients to another'
    : 'server and clients NOT pinned to separate cores, so the figures scatter more';
  return [
    RATIOS,
    '',
    `- **All**: one process per column, in turns, with one connection of ioredis with its defaults (no automatic pipelining), ${pinning}. One loop per check in flight, which awaits each check. Medians of ${rounds} rounds after a warm-up of ${whole(warmUp)} checks.`,
    `- **New keys**: limit 100 per 10 minutes, ${whole(keysAlone)} IPv4 keys with one check in flight, ${whole(keysTogether)} with several, each checked twice and allowed, on an empty server.`,
    `- **Full logs**: ${whole(checks)} allowed checks of ${whole(checks / 100)} keys with 90 hits, or of ${whole(checks / 500)} keys with 1,000. One hit leaves the window for each new one. Rollgate's window is the time in which it makes that many checks of each key. The row of hits shows what it came to.`,
    `- **Rejected**: limit 10 per 10 minutes, ${whole(checks)} checks of ${whole(checks / 100)} keys that have reached it. Rollgate's denial cache is off, because it would reject without a command.`,
    "- **Server CPU**: user and system time of the server's process. **Within commands**: the time of scripts or transactions in `INFO commandstats`, without reading, parsing and replying.",
    '- **Client CPU**: user and system time of the client process, including garbage collection. **Median ms**: from the call to its result.',
    '- **Two windows**: 100 per 10 minutes and 1,000 per 10 hours. Median of the ratios of each round.',
  ];
}

function describeStateMethod({ rounds, checks }: Effort['redis']['growth']): string[] {
  return [
    RATIOS,
    '',
    '- **Bytes**: `MEMORY USAGE` without sampling of all Redis keys that one key of the limiter uses, after sequential hits. The checks of rolling-rate-limiter read the whole log and would take a minute, so the benchmark writes its hits with the same ZADD.',
    '- **Rejected checks**: limit 10, 64 in flight, after a first rejection, with default options. rate-limiter-flexible can also reject from memory, with its option `inMemoryBlockOnConsumed`.',
    `- **Limits, log full**: sequential checks with an injected clock, so one hit leaves the window for each new one. Server time within commands, client time of the process. Medians of ${rounds} rounds of ${whole(checks)} checks.`,
  ];
}

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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
import { describeLoadMethod, describeStateMethod } from './redis/method.js';
import type { RedisSubjectName } from './redis/subjects.js';
import type { Report, Row } from './table.js';
import { canPin } from './worker.js';

export type Transport = 'TCP' | 'Unix socket';

type RedisReport = Report<RedisSubjectName>;

/** Measures checks of limiters that keep their state in Redis, on a private server without persistence. */
export async function measureRedisLoad(transport: Transport, effort: RedisLoad): Promise<RedisReport> {
  const folder = await mkdtemp(join(tmpdir(), 'rollgate-bench-'));
  const socket = join(folder, 'redis.sock');
  try {
    return await withServer(['--unixsocket', socket], async (server, about) => {
      const measured = await measureLoad(server, transport === 'TCP' ? server.url : socket, effort);
      return toReport(toLoadRows(measured), [`${about} over ${transport}`, '', ...describeLoadMethod(effort)]);
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Measures what the state costs a private server: memory, commands in a flood, long scripts, growing limits. */
export async function measureRedisState(effort: Effort['redis']['growth']): Promise<RedisReport> {
  return withServer([], async (server, about) => {
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
  args: readonly string[],
  use: (server: RedisServer, about: string) => Promise<Result>,
): Promise<Result> {
  const server = await RedisServer.start({ args, ...(canPin ? { core: SERVER_CORE } : {}) });
  try {
    const [, version = 'unknown'] = /^redis_version:(\S+)/m.exec(String(await server.run('INFO', 'server'))) ?? [];
    return await use(server, `- Redis ${version}, ioredis ${versionOf('ioredis')}`);
  } finally {
    await server.stop();
  }
}

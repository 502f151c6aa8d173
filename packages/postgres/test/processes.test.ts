import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { RateLimiter, rollingWindow } from '@rollgate/core';
import { PostgresStore } from '@rollgate/postgres';
import { PgBouncer, PostgresServer, until } from '@rollgate/test-support';
import { effort } from '@rollgate/test-support/effort';
import { Pool } from 'pg';

const run = promisify(execFile);

const PROCESSES = effort(3, 8);
const CHECKS = effort(150, 12_500);

let server: PostgresServer;
let pool: Pool;
beforeAll(async () => {
  server = await PostgresServer.start({ fsync: 'off' });
  pool = new Pool({ connectionString: server.url, max: 2 });
  await new PostgresStore({ client: pool }).createTable();
});
afterAll(async () => {
  await pool.end();
  await server.stop();
});

interface Report {
  readonly kept: Readonly<Record<string, number>>;
  readonly failed: number;
}

interface Load {
  readonly url: string;
  readonly prefix: string;
  readonly limits: readonly [user: number, team: number];
  readonly keys: number;
  readonly checks: number;
}

/** While a connection holds it, the processes wait. */
const START_LOCK = 1;

/** Starts processes that check the same keys at the same time, and adds up what they report. */
async function load(options: Load): Promise<Report> {
  const program = join(__dirname, 'support/checking-process.mjs');
  const start = { startUrl: server.url, startLock: START_LOCK };
  const argument = JSON.stringify({ ...options, ...start, inFlight: 16, sweep: effort('20ms', '1s') });
  const holder = await pool.connect();
  await holder.query(`SELECT pg_advisory_lock(${START_LOCK})`);
  const reports = Array.from({ length: PROCESSES }, () => run(process.execPath, [program, argument]));
  await until('all processes wait', async () => {
    const waiting = "SELECT count(*)::int FROM pg_locks WHERE locktype = 'advisory' AND NOT granted";
    return (await holder.query(waiting)).rows[0].count === PROCESSES;
  });
  await holder.query(`SELECT pg_advisory_unlock(${START_LOCK})`);
  holder.release();
  const kept: Record<string, number> = {};
  let failed = 0;
  for (const { stdout } of await Promise.all(reports)) {
    const report = JSON.parse(stdout) as Report;
    failed += report.failed;
    for (const [key, count] of Object.entries(report.kept)) kept[key] = (kept[key] ?? 0) + count;
  }
  return { kept, failed };
}

/** Returns what the table has of each key, such as `user key 7`. */
async function recorded({ prefix, limits }: Load, keys: readonly string[]): Promise<Record<string, number>> {
  const quota = { user: limits[0], team: limits[1] };
  const limiter = new RateLimiter({
    limits: {
      user: rollingWindow({ limit: quota.user, window: '1h' }),
      team: rollingWindow({ limit: quota.team, window: '1h' }),
    },
    store: new PostgresStore({ client: pool }),
    prefix,
    timeout: '30s',
  });
  const entries = keys.map(async (key) => {
    const [limit, name] = [key.slice(0, 4) as 'user' | 'team', key.slice(5)];
    const decision = await limiter.peek({ user: name, team: name });
    return [key, quota[limit] - decision.limits[limit].remaining] as const;
  });
  return Object.fromEntries(await Promise.all(entries));
}

test.each(effort(['directly'], ['directly', 'through PgBouncer in transaction mode']))(
  'processes that check and refund two keys at a time %s count exactly, without a deadlock',
  async (way) => {
    const bouncer = way === 'directly' ? undefined : await PgBouncer.start(server);
    const options: Load = {
      ...{ url: bouncer?.url ?? server.url, prefix: way, checks: CHECKS },
      ...{ limits: [CHECKS / 10, CHECKS / 5] as const, keys: 20 },
    };
    let isDone = false;
    const loaded = load(options).finally(() => {
      isDone = true;
    });
    while (!isDone) {
      await pool.query('VACUUM rollgate');
      await delay(effort(0, 1000));
    }
    const { kept, failed } = await loaded;
    await bouncer?.stop();
    expect(failed).toBe(0);
    expect(Object.keys(kept)).toHaveLength(40);
    expect(await recorded(options, Object.keys(kept))).toEqual(kept);
    const { rows } = await pool.query('SELECT deadlocks::int FROM pg_stat_database WHERE datname = current_database()');
    expect(rows).toEqual([{ deadlocks: 0 }]);
  },
);

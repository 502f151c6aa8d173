import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PostgresStore } from '@rollgate/postgres';
import { PostgresServer } from '@rollgate/test-support';
import Database from 'libsql';
import { Pool } from 'pg';
import { SERVER_CORE } from '../redis/check-workers.js';
import { canPin } from '../worker.js';

/** What a database server did so far. */
export interface ServerFigures {
  readonly cpuMicros: number;
  readonly walBytes: number;
}

/** A database in which the subjects keep their state. */
export interface BenchDatabase {
  readonly address: string;
  readonly about: string;
  /** Deletes all rows. */
  clear(): Promise<void>;
  /** `undefined` for a file. */
  read(): Promise<ServerFigures | undefined>;
}

/** Calls `use` with a private server with the defaults of PostgreSQL. */
export async function withPostgres<Result>(use: (database: BenchDatabase) => Promise<Result>): Promise<Result> {
  const server = await PostgresServer.start();
  const pool = new Pool({ connectionString: server.url, max: 1 });
  try {
    const queryValue = async (text: string) => Object.values((await pool.query(text)).rows[0])[0] as string;
    const pid = Number((await queryValue("SELECT pg_read_file('postmaster.pid')")).split('\n')[0]);
    // New connections inherit the core.
    if (canPin) execFileSync('taskset', ['-cp', String(SERVER_CORE), String(pid)], { stdio: 'ignore' });
    await new PostgresStore({ client: pool }).createTable();
    return await use({
      address: server.url,
      about: `PostgreSQL ${await queryValue('SHOW server_version')} with its defaults`,
      async clear() {
        const tables = "SELECT string_agg(tablename, ',') FROM pg_tables WHERE schemaname = 'public'";
        await pool.query(`TRUNCATE ${await queryValue(tables)}; CHECKPOINT`);
      },
      async read() {
        const walBytes = Number(await queryValue("SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')"));
        return { cpuMicros: cpuMicrosOf(pid), walBytes };
      },
    });
  } finally {
    await pool.end();
    await server.stop();
  }
}

/** Calls `use` with a file in a new folder. */
export async function withFile<Result>(use: (database: BenchDatabase) => Promise<Result>): Promise<Result> {
  const folder = await mkdtemp(join(tmpdir(), 'rollgate-bench-'));
  const address = join(folder, 'limits.db');
  const database = new Database(address);
  try {
    database.exec('PRAGMA journal_mode = WAL; PRAGMA busy_timeout = 5000');
    const tables = database.prepare("SELECT name FROM sqlite_master WHERE type = 'table'");
    return await use({
      address,
      about: 'libsql, with a write-ahead log and `synchronous = NORMAL`',
      async clear() {
        for (const { name } of tables.all() as { name: string }[]) database.exec(`DELETE FROM "${name}"`);
      },
      read: async () => undefined,
    });
  } finally {
    database.close();
    await rm(folder, { recursive: true, force: true });
  }
}

/** The kernel counts processor time in units of 10 ms. */
const TICK_MICROS = 10_000;

/** The processor time of the server's main process, of its children, and of those that have ended. Needs Linux. */
function cpuMicrosOf(pid: number): number {
  let ticks = 0;
  for (const name of readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
    // From the state on, the third field, because the name before it may contain spaces.
    const fields = readStat(name)?.split(') ')[1]?.split(' ');
    if (fields === undefined) continue;
    if (Number(name) === pid) ticks += sum(fields.slice(11, 15));
    else if (Number(fields[1]) === pid) ticks += sum(fields.slice(11, 13));
  }
  return ticks * TICK_MICROS;
}

function readStat(pid: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return undefined; // The process has ended.
  }
}

const sum = (fields: readonly string[]) => fields.reduce((total, field) => total + Number(field), 0);

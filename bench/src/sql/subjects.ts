import { PostgresStore } from '@rollgate/postgres';
import { SqliteStore } from '@rollgate/sqlite';
import Database from 'libsql';
import { Pool } from 'pg';
import { RateLimiterPostgres, RateLimiterSQLite } from 'rate-limiter-flexible';
import { createLimit } from '../limits.js';
import { createRollgate, hasPointsAbove, type StoredSettings, type StoredSubject } from '../subjects.js';

/** The databases of the benchmark. */
export type Backend = 'postgres' | 'sqlite';

export const SQL_SUBJECT_NAMES = ['rollgate', 'rate-limiter-flexible'] as const;
export type SqlSubjectName = (typeof SQL_SUBJECT_NAMES)[number];

/** The most connections of a process, as by default in `pg`. */
const CONNECTIONS = 10;

/** Creates a subject. The address is the URL of a server or the path of a file. */
export function createSqlSubject(
  backend: Backend,
  name: SqlSubjectName,
  address: string,
): (settings: StoredSettings) => Promise<StoredSubject> {
  return backend === 'postgres' ? onPostgres(name, address) : onSqlite(name, address);
}

function onPostgres(name: SqlSubjectName, connectionString: string) {
  const pool = new Pool({ connectionString, max: CONNECTIONS });
  return async (settings: StoredSettings): Promise<StoredSubject> => {
    if (name === 'rollgate') {
      return createRollgate(settings, limitOf(settings), (clock) => new PostgresStore({ client: pool, clock }));
    }
    return createFlexible(
      settings,
      (ready) => new RateLimiterPostgres({ ...pointsOf(settings), storeClient: pool, storeType: 'pool' }, ready),
    );
  };
}

function onSqlite(name: SqlSubjectName, file: string) {
  const database = new Database(file);
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA busy_timeout = 5000');
  return async (settings: StoredSettings): Promise<StoredSubject> => {
    if (name === 'rollgate') {
      return createRollgate(settings, limitOf(settings), (clock) => new SqliteStore({ database, clock }));
    }
    const options = { ...pointsOf(settings), storeClient: database, storeType: 'better-sqlite3' };
    return createFlexible(settings, (ready) => new RateLimiterSQLite(options, ready));
  };
}

const limitOf = ({ limit, windowMs }: StoredSettings) => createLimit('rollingWindow', limit, windowMs);

const pointsOf = ({ limit, windowMs }: StoredSettings) => ({
  points: limit,
  duration: windowMs / 1000,
  tableName: 'flexible',
});

async function createFlexible(
  { limit }: StoredSettings,
  create: (ready: (error?: Error) => void) => { consume(key: string): Promise<unknown> },
): Promise<StoredSubject> {
  const limiter = await new Promise<ReturnType<typeof create>>((resolve, reject) => {
    const created = create((error) => setImmediate(() => (error ? reject(error) : resolve(created))));
  });
  return {
    check: (key) => limiter.consume(key),
    isRejection: hasPointsAbove(limit),
  };
}

import { type Clock, type Decision, RateLimiter, rollingWindow } from '@rollgate/core';
import { PostgresStore } from '@rollgate/postgres';
import { SqliteStore } from '@rollgate/sqlite';
import Database from 'libsql';
import { Pool } from 'pg';
import { RateLimiterPostgres, RateLimiterSQLite } from 'rate-limiter-flexible';
import { createBatchedCounter } from './batched-counter.js';
import { type Backend, COUNTER, type SqlSettings, type SqlSubject, type SqlSubjectName } from './subject.js';

/** The most connections of a process, as by default in `pg`. */
const CONNECTIONS = 10;

/** Creates a subject. The address is the URL of a server or the path of a file. */
export function createSqlSubject(
  backend: Backend,
  name: SqlSubjectName,
  address: string,
): (settings: SqlSettings) => Promise<SqlSubject> {
  return backend === 'postgres' ? onPostgres(name, address) : onSqlite(name, address);
}

function onPostgres(name: SqlSubjectName, connectionString: string) {
  const pool = new Pool({ connectionString, max: CONNECTIONS });
  return async (settings: SqlSettings): Promise<SqlSubject> => {
    if (name === 'rollgate') {
      return createRollgate(settings, (clock) => new PostgresStore({ client: pool, clock }));
    }
    if (name === COUNTER) return createBatchedCounter(pool);
    return createFlexible(
      settings,
      (ready) => new RateLimiterPostgres({ ...pointsOf(settings), storeClient: pool, storeType: 'pool' }, ready),
    );
  };
}

function onSqlite(name: SqlSubjectName, file: string) {
  const database = new Database(file);
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA busy_timeout = 5000');
  return async (settings: SqlSettings): Promise<SqlSubject> => {
    if (name === 'rollgate') return createRollgate(settings, (clock) => new SqliteStore({ database, clock }));
    const options = { ...pointsOf(settings), storeClient: database, storeType: 'better-sqlite3' };
    return createFlexible(settings, (ready) => new RateLimiterSQLite(options, ready));
  };
}

function createRollgate(
  { limit, windowMs, stepMs }: SqlSettings,
  createStore: (clock: Clock | undefined) => PostgresStore | SqliteStore,
): SqlSubject {
  let nowMs = Date.now();
  const clock = stepMs === undefined ? undefined : { now: () => nowMs };
  const limits = rollingWindow({ limit, window: `${windowMs}ms` });
  const limiter = new RateLimiter({ limits, store: createStore(clock), timeout: '1m', onStoreError: 'throw' });
  return {
    check(key) {
      nowMs += stepMs ?? 0;
      return limiter.check(key);
    },
    isRejection: (result) => !(result as Decision).allowed,
  };
}

const pointsOf = ({ limit, windowMs }: SqlSettings) => ({
  points: limit,
  duration: windowMs / 1000,
  tableName: 'flexible',
});

async function createFlexible(
  { limit }: SqlSettings,
  create: (ready: (error?: Error) => void) => { consume(key: string): Promise<unknown> },
): Promise<SqlSubject> {
  const limiter = await new Promise<ReturnType<typeof create>>((resolve, reject) => {
    const created = create((error) => setImmediate(() => (error ? reject(error) : resolve(created))));
  });
  return {
    check: (key) => limiter.consume(key),
    isRejection: (result) => (result as { consumedPoints: number }).consumedPoints > limit,
  };
}

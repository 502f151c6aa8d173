import type { Clock, Duration } from '@rollgate/core';
import { parseDuration, validateBoolean, validateClock, validateOptionNames } from '@rollgate/core/store';
import type { PostgresClient, PostgresListener } from '../clients/clients.js';
import { createConnector, createListen } from '../clients/create-connector.js';
import { quoteTable } from '../sql/quote.js';
import { Notifications } from './notifications.js';

/** Options of {@link PostgresStore}. */
export interface PostgresStoreOptions {
  /**
   * A `Pool` of `pg`, the function `sql` of Postgres.js, or a `PGlite` instance. With Prisma or Drizzle, pass the pool
   * that they use. The store uses one connection at a time for checks, and never closes the client.
   */
  client: PostgresClient;
  /** The name of the table, with or without its schema. @defaultValue `'rollgate'` */
  table?: string | undefined;
  /**
   * Whether a check waits until its record is on disk, if the server's `synchronous_commit` is on. With `false`, a crash of the server may lose the records of
   * the last 0.6 seconds, which is three times the default `wal_writer_delay`.
   *
   * @defaultValue `true`
   */
  synchronousCommit?: boolean | undefined;
  /**
   * How often the store searches the next 64 pages of the table for expired rows and deletes them, as a duration. It does so
   * after a check, and continues at once where it finds many. `false` and a `clock` turn this off.
   *
   * @defaultValue `'5s'`
   */
  sweep?: Duration | false | undefined;
  /**
   * A connection that receives notifications. With it, callers of `wait` continue as soon as another process frees quota. It is
   * a connected `Client` of `pg`, the function of Postgres.js or a `PGlite` instance. It must not go through PgBouncer in
   * transaction mode. Set it in all processes, because each notifies the others only if it is set.
   *
   * @defaultValue none: they try again at the end of the wait that the store last reported
   */
  listener?: PostgresListener | undefined;
  /** A clock for tests. @defaultValue the time of the server */
  clock?: Clock | undefined;
}

const OPTIONS = ['client', 'table', 'synchronousCommit', 'sweep', 'listener', 'clock'];

/** @throws TypeError or RangeError for an invalid option, with its name. */
export function resolvePostgresOptions(options: PostgresStoreOptions) {
  validateOptionNames('PostgresStore', options, OPTIONS);
  const { client, table = 'rollgate', synchronousCommit = true, sweep = '5s', listener, clock } = options;
  validateClock(clock);
  const connector = createConnector(client);
  return {
    connector,
    client,
    tableName: table,
    table: quoteTable(table), // The name in texts.
    synchronousCommit: validateBoolean('synchronousCommit', synchronousCommit),
    sweepMs: sweep === false ? undefined : parseDuration('sweep', sweep),
    notifications: listener === undefined ? undefined : new Notifications(table, createListen(listener), connector),
    clock,
  };
}

export type {
  PgClient,
  PgListener,
  Pglite,
  PgliteResult,
  PgPool,
  PostgresClient,
  PostgresJsQuery,
  PostgresJsReserved,
  PostgresJsSql,
  PostgresListener,
} from './clients/clients.js';
export { postgresSchema } from './sql/schema.js';
export type { PostgresStoreOptions } from './store/options.js';
export { PostgresStore } from './store/postgres-store.js';

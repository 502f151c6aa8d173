import { hasMethods, invalidOption, optionError } from './validate.js';

/** What `store` should be. */
export const STORE = 'a store such as `new MemoryStore()`';

const INSTEAD = {
  OF_ROLLGATE: 'Use one of Rollgate, such as `new RedisStore({ client })` of @rollgate/redis',
  REDIS: 'Write `store: new RedisStore({ client })`, with RedisStore of @rollgate/redis',
  POSTGRES: 'Write `store: new PostgresStore({ client })`, with PostgresStore of @rollgate/postgres',
  SQLITE: 'Write `store: new SqliteStore({ database })`, with SqliteStore of @rollgate/sqlite',
};

/** What users pass by mistake: its methods, its name, and what to write instead. */
const FOREIGN: readonly (readonly [methods: readonly string[], name: string, instead: keyof typeof INSTEAD])[] = [
  [['increment', 'decrement', 'resetKey'], 'a store of express-rate-limit', 'OF_ROLLGATE'],
  [['incr', 'child'], 'a store of @fastify/rate-limit', 'OF_ROLLGATE'],
  [['consume', 'penalty', 'reward'], 'a limiter of rate-limiter-flexible', 'OF_ROLLGATE'],
  // ioredis and iovalkey, node-redis, @upstash/redis, Valkey GLIDE.
  [['defineCommand', 'evalsha'], 'a client of Redis', 'REDIS'],
  [['sendCommand', 'evalSha'], 'a client of Redis', 'REDIS'],
  [['evalsha', 'pipeline'], 'a client of Redis', 'REDIS'],
  [['customCommand', 'invokeScript'], 'a client of Redis', 'REDIS'],
  // pg and PGlite, Postgres.js.
  [['query', 'connect'], 'a client of PostgreSQL', 'POSTGRES'],
  [['query', 'exec', 'transaction'], 'a client of PostgreSQL', 'POSTGRES'],
  [['unsafe', 'begin'], 'a client of PostgreSQL', 'POSTGRES'],
  // node:sqlite, bun:sqlite, better-sqlite3.
  [['prepare', 'exec'], 'a database of SQLite', 'SQLITE'],
];

/** Creates the error for a `store` that is none. Of what is known from other packages, it says which store to use. */
export function foreignStore(store: unknown): TypeError {
  const methods = typeof store === 'function' ? Object.assign({}, store) : store;
  const known = FOREIGN.find(([names]) => hasMethods(methods, names));
  if (known === undefined) return invalidOption('store', STORE, store);
  const [, name, instead] = known;
  const message = `Expected \`store\` to be a store of Rollgate, got ${name}. ${INSTEAD[instead]}`;
  return optionError(message);
}

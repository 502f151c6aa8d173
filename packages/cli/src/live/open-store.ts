import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Store } from '@rollgate/core';
import { StoreAccessError, UsageError } from '../errors.js';
import type { Credentials } from './url-credentials.js';

/** How to open a store. */
export interface StoreOptions {
  /** The name of the table, in PostgreSQL and SQLite. */
  readonly table?: string | undefined;
  /** What the client of the app adds to each Redis key. */
  readonly keyPrefix?: string | undefined;
  /** Whether the URL is that of a node of a Redis Cluster. */
  readonly cluster?: boolean | undefined;
  /** Whether the command changes nothing. */
  readonly isReadOnly: boolean;
}

/** An open connection. */
export interface OpenStore {
  /** Creates a store with the options that a description names. */
  create(options: Readonly<Record<string, string>>): Store;
  close(): Promise<unknown>;
}

/** What the packages of drivers and stores export. */
type Constructor<Instance> = new (...values: unknown[]) => Instance;
type StoreClass = Constructor<Store>;

const CONNECT_MS = 5000;

/**
 * Connects to the store with this URL, or opens the file of SQLite.
 *
 * @throws UsageError for an unknown kind of URL, StoreAccessError if the store cannot be opened.
 */
export async function openStore(url: string, credentials: Credentials, options: StoreOptions): Promise<OpenStore> {
  const [, protocol] = /^([a-z]+):\/\//i.exec(url) ?? [];
  if (protocol === undefined) return openSqlite(url, options);
  if (/^(?:redis|valkey)s?$/.test(protocol)) return openRedis(url.replace(/^valkey/, 'redis'), credentials, options);
  if (/^postgres(?:ql)?$/.test(protocol)) return openPostgres(url, options);
  throw new UsageError(`Expected a URL that begins with redis:// or postgres://, or a file, got ${protocol}://`);
}

async function openRedis(
  url: string,
  credentials: Credentials,
  { keyPrefix = '', cluster = false }: StoreOptions,
): Promise<OpenStore> {
  const { name, module } = loadPackage('ioredis', 'redis', 'iovalkey');
  const { RedisStore } = loadPackage('@rollgate/redis').module as { RedisStore: StoreClass };
  if (name === 'redis' && keyPrefix !== '') {
    throw new UsageError('Expected no `--key-prefix` with the client `redis`, which has none');
  }
  const login = credentials.password === '' ? {} : { username: credentials.username, password: credentials.password };
  const client =
    name === 'redis'
      ? createNodeRedis(module, url, cluster ? login : undefined)
      : createIoredis(module, url, cluster ? login : undefined, keyPrefix);
  // Without a listener, a lost connection would end the process.
  let lastError: Error | undefined;
  client.on('error', (error) => {
    lastError = error;
  });
  await client.connect().catch((error: unknown) => {
    throw lastError ?? error; // ioredis only says that the connection is closed.
  });
  return {
    create: ({ log, clusterSlot }) => new RedisStore({ client, log, clusterSlot, denialCache: false }),
    close: async () => (name === 'redis' ? (client as NodeRedis).destroy() : (client as Ioredis).disconnect()),
  };
}

interface Ioredis {
  on(event: 'error', listener: (error: Error) => void): unknown;
  connect(): Promise<unknown>;
  disconnect(): void;
}

interface NodeRedis extends Omit<Ioredis, 'disconnect'> {
  destroy(): void;
}

/** What logs in to each node of a Cluster. */
type Login = Partial<Pick<Credentials, 'username' | 'password'>>;

/** A user with few rights may run neither INFO nor CLIENT. */
function createIoredis(module: unknown, url: string, ofCluster: Login | undefined, keyPrefix: string): Ioredis {
  const { Redis, Cluster } = module as Record<'Redis' | 'Cluster', Constructor<Ioredis>>;
  const common = { keyPrefix, lazyConnect: true, enableReadyCheck: false };
  const redisOptions = { disableClientInfo: true, connectTimeout: CONNECT_MS, maxRetriesPerRequest: 0 };
  if (ofCluster === undefined) return new Redis(url, { ...common, ...redisOptions, retryStrategy: null });
  const tls = new URL(url).protocol === 'rediss:' ? { tls: {} } : {};
  return new Cluster([url], {
    ...common,
    redisOptions: { ...redisOptions, ...ofCluster, ...tls },
    clusterRetryStrategy: null,
  });
}

function createNodeRedis(module: unknown, url: string, ofCluster: Login | undefined): NodeRedis {
  const { createClient, createCluster } = module as Record<
    'createClient' | 'createCluster',
    (from: object) => NodeRedis
  >;
  const socket = { reconnectStrategy: false, connectTimeout: CONNECT_MS };
  if (ofCluster === undefined) return createClient({ url, socket });
  return createCluster({ rootNodes: [{ url }], defaults: { socket, ...ofCluster } });
}

async function openPostgres(url: string, { table }: StoreOptions): Promise<OpenStore> {
  const { name, module } = loadPackage('pg', 'postgres');
  const { PostgresStore } = loadPackage('@rollgate/postgres').module as { PostgresStore: StoreClass };
  const client = name === 'pg' ? createPool(module, url) : createPostgresJs(module, url);
  return {
    create: () => new PostgresStore({ client, table, sweep: false }),
    close: () => client.end(),
  };
}

interface Ending {
  end(): Promise<unknown>;
}

function createPool(module: unknown, connectionString: string): Ending {
  const { Pool } = module as { Pool: Constructor<Ending & { on(event: 'error', listener: () => void): unknown }> };
  const pool = new Pool({ connectionString, max: 2, connectionTimeoutMillis: CONNECT_MS });
  pool.on('error', () => {}); // The pending query has the error.
  return pool;
}

function createPostgresJs(module: unknown, url: string): Ending {
  const postgres = module as (url: string, options: object) => Ending;
  return postgres(url, { max: 2, connect_timeout: CONNECT_MS / 1000, onnotice: () => {} });
}

async function openSqlite(file: string, { table, isReadOnly }: StoreOptions): Promise<OpenStore> {
  if (!existsSync(file)) {
    throw new StoreAccessError(
      `Expected a URL such as redis://localhost, or a file of SQLite, got ${JSON.stringify(file)}`,
    );
  }
  const { name, module } = loadPackage('better-sqlite3', 'libsql', 'node:sqlite');
  const { SqliteStore } = loadPackage('@rollgate/sqlite').module as { SqliteStore: StoreClass };
  const Database = (name === 'node:sqlite' ? (module as Exports)['DatabaseSync'] : module) as Constructor<{
    close(): void;
  }>;
  const database = new Database(file, { readonly: isReadOnly, readOnly: isReadOnly });
  const store = new SqliteStore({ database, table }); // One, because each would warn of a missing write-ahead log.
  return {
    create: () => store,
    close: async () => database.close(),
  };
}

type Exports = Readonly<Record<string, unknown>>;

/**
 * Loads the first of these packages that is installed: in the project of this folder, whose version fits its data, or next to the
 * command line.
 *
 * @throws StoreAccessError that says how to install one.
 */
function loadPackage(...names: readonly [string, ...string[]]): { name: string; module: unknown } {
  const places = [createRequire(join(process.cwd(), 'package.json')), createRequire(import.meta.url)];
  for (const place of places) {
    for (const name of names) {
      if (isInstalled(place, name)) return { name, module: place(name) };
    }
  }
  const list = names.map((name) => `\`${name}\``).join(' or ');
  const [first] = names;
  throw new StoreAccessError(
    `Expected ${list} in the project of this folder, got none. Run \`npm install ${first}\` first`,
  );
}

function isInstalled(place: NodeJS.Require, name: string): boolean {
  try {
    return place.resolve(name) !== '';
  } catch {
    return false;
  }
}

// The parts of the clients that the store uses, so that it depends on no client.

/** A `Pool` of `pg`, or of a package with the same methods. */
export interface PgPool {
  /** Waits for a free connection. Calls back with an error or a connection, or returns a promise of it. */
  connect(callback: (error: Error | undefined, client: PgClient | undefined) => void): unknown;
  /** Whether the pool has been closed. */
  readonly ending?: boolean;
}

/** A connection of a `Pool` of `pg`. */
export interface PgClient {
  /** Runs a text of one or more statements. */
  query(query: { text: string; rowMode: 'array' }): Promise<unknown>;
  /** Returns the connection to its pool. `destroy` closes it instead. */
  release(destroy?: boolean): void;
  /** Listens for the loss of the connection. */
  on(event: 'error', listener: (error: Error) => void): unknown;
  /** Stops listening for the loss of the connection. */
  removeListener(event: 'error', listener: (error: Error) => void): unknown;
}

/** A `Client` of `pg` that you have connected, for notifications. */
export interface PgListener {
  /** Runs a statement. */
  query(text: string): Promise<unknown>;
  /** Listens for notifications of all channels. */
  on(event: 'notification', listener: (message: { channel: string; payload?: string | undefined }) => void): unknown;
  /** Listens for the loss of the connection. */
  on(event: 'error', listener: (error: Error) => void): unknown;
}

/** The function that `postgres()` of Postgres.js returns. */
export interface PostgresJsSql {
  /** Creates a query from a text. */
  unsafe(text: string): PostgresJsQuery;
  /** Waits for a free connection. */
  reserve(): Promise<PostgresJsReserved>;
  /** The settings of the client. */
  readonly options: {
    /** The most connections that the client opens. */
    readonly max: number;
  };
  /** Listens for notifications of a channel. */
  listen(channel: string, onMessage: (payload: string) => void): Promise<unknown>;
}

/** A query of Postgres.js. */
export interface PostgresJsQuery {
  /** Sends the text as it is, so that it may have several statements. */
  simple(): PromiseLike<unknown>;
}

/** A connection that Postgres.js has reserved. */
export interface PostgresJsReserved {
  /** Creates a query from a text. */
  unsafe(text: string): PostgresJsQuery;
  /** Returns the connection. */
  release(): void;
}

/** The result of a statement in PGlite. */
export interface PgliteResult {
  /** The rows, as arrays. */
  readonly rows: unknown;
}

/** A database of `@electric-sql/pglite`. */
export interface Pglite {
  /** Runs a text of one or more statements. */
  exec(text: string, options: { rowMode: 'array' }): Promise<readonly PgliteResult[]>;
  /** Listens for notifications of a channel. */
  listen(channel: string, onMessage: (payload: string) => void): Promise<unknown>;
  /** Whether the database has been closed. */
  readonly closed: boolean;
}

/** The clients of PostgreSQL that a store accepts. */
export type PostgresClient = PgPool | PostgresJsSql | Pglite;

/** The clients that receive notifications. */
export type PostgresListener = PgListener | PostgresJsSql | Pglite;

import type { PostgresJsReserved, PostgresJsSql } from './clients.js';
import type { Connection, Connector } from './connector.js';

/** The rows of a statement. The client adds properties to the array. */
type Rows = readonly Readonly<Record<string, string | null>>[] & { readonly command?: string };

/** A connection that was idle for longer may have been closed by the server. */
const IDLE_MS = 100;

export function fromPostgresJs(sql: PostgresJsSql): Connector {
  let mayBeClosed = true;
  let usedMs = 0;
  const onLoss = () => {
    mayBeClosed = true;
  };
  const onRelease = () => {
    usedMs = performance.now();
  };
  return {
    state: 'open',
    endWaits: false,
    async connect() {
      if (mayBeClosed || performance.now() - usedMs > IDLE_MS) await openConnections(sql);
      mayBeClosed = false;
      return toConnection(await sql.reserve(), onLoss, onRelease);
    },
  };
}

/**
 * Makes sure that the client has an open connection, by a query. `reserve` must not open one: Postgres.js 3.4 never resolves it with
 * `fetch_types: false`, and after an error that ended the connection before, it rejects and loses the connection for good. A query
 * gets that old error, and the connection is usable. So after an error, each connection gets a query.
 */
async function openConnections(sql: PostgresJsSql): Promise<void> {
  const query = async () => sql.unsafe('SELECT').simple();
  try {
    await query();
  } catch {
    await Promise.allSettled(Array.from({ length: sql.options.max }, query));
    await query();
  }
}

/**
 * Postgres.js takes a lost connection back by itself, and may have opened it again for another query. So a connection that was lost
 * gets no more texts and is not released, which would put it among the open ones.
 */
function toConnection(connection: PostgresJsReserved, onLoss: () => void, onRelease: () => void): Connection {
  let loss: unknown;
  return {
    async run(text) {
      if (loss !== undefined) throw loss;
      try {
        const result = (await connection.unsafe(text).simple()) as Rows | readonly Rows[];
        // One statement has one array of rows, which names its command.
        const all = 'command' in result ? [result as Rows] : (result as readonly Rows[]);
        return all.map((rows) => rows.map((row) => Object.values(row)));
      } catch (error) {
        if (!isOfStatement(error)) {
          loss = error;
          onLoss();
        }
        throw error;
      }
    },
    release() {
      if (loss !== undefined) return;
      connection.release();
      onRelease();
    },
  };
}

/** Whether the server has reported the failure of a statement, after which the connection stays open. */
function isOfStatement(error: unknown): boolean {
  return (error as { readonly severity?: unknown } | null)?.severity === 'ERROR';
}

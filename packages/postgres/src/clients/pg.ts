import type { PgPool } from './clients.js';
import type { Connector } from './connector.js';

interface PgResult {
  readonly rows: (string | null)[][];
}

export function fromPg(pool: PgPool): Connector {
  return {
    endWaits: true,
    get state() {
      return pool.ending === true ? 'closed' : 'open';
    },
    async connect() {
      const client = await pool.connect();
      // The pool listens only while a connection is idle. Without a listener, a lost connection would end the process.
      client.on('error', ignore);
      return {
        async run(text) {
          const result = (await client.query({ text, rowMode: 'array' })) as PgResult | PgResult[];
          return Array.isArray(result) ? result.map(({ rows }) => rows) : [result.rows];
        },
        release() {
          client.release();
          client.removeListener('error', ignore);
        },
        close: () => client.release(true),
      };
    },
  };
}

/** The query that waits for the connection rejects with the error, too. */
function ignore(): void {}

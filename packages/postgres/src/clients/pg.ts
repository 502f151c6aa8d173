import type { PgClient, PgPool } from './clients.js';
import type { Connection, Connector } from './connector.js';

interface PgResult {
  readonly rows: (string | null)[][];
}

export function fromPg(pool: PgPool): Connector {
  return {
    endWaits: true,
    get state() {
      return pool.ending === true ? 'closed' : 'open';
    },
    connect: () =>
      new Promise((resolve, reject) => {
        const take = (client: PgClient) => {
          // The pool listens only while a connection is idle. Without a listener, a lost connection would end the process. It may
          // be lost before a promise has continued, so the listener starts in the callback.
          client.on('error', ignore);
          resolve(toConnection(client));
        };
        const promise = pool.connect((error, client) => (client === undefined ? reject(error) : take(client)));
        // A pool of another package may know no callback.
        if (promise instanceof Promise) promise.then(take, reject);
      }),
  };
}

function toConnection(client: PgClient): Connection {
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
}

/** The query that waits for the connection rejects with the error, too. */
function ignore(): void {}

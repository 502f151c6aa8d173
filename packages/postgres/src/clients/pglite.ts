import type { Pglite } from './clients.js';
import type { Connection, Connector } from './connector.js';

/** The database has one connection, so each transaction waits for the one before it. */
export function fromPglite(database: Pglite): Connector {
  let last = Promise.resolve();
  return {
    endWaits: true,
    get state() {
      return database.closed ? 'closed' : 'open';
    },
    async connect() {
      const before = last;
      let release = () => {};
      last = new Promise((resolve) => {
        release = resolve;
      });
      await before;
      return {
        run: async (text) => {
          const results = await database.exec(text, { rowMode: 'array' });
          return results.map(({ rows }) => rows as (string | null)[][]);
        },
        release,
      } satisfies Connection;
    },
  };
}

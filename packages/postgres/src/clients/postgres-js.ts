import type { PostgresJsSql } from './clients.js';
import type { Connector } from './connector.js';

/** The rows of a statement. The client adds properties to the array. */
type Rows = readonly Readonly<Record<string, string | null>>[] & { readonly command?: string };

export function fromPostgresJs(sql: PostgresJsSql): Connector {
  return {
    state: 'open',
    endWaits: false,
    async connect() {
      const connection = await sql.reserve();
      return {
        async run(text) {
          const result = (await connection.unsafe(text).simple()) as Rows | readonly Rows[];
          // One statement has one array of rows, which names its command.
          const all = 'command' in result ? [result as Rows] : (result as readonly Rows[]);
          return all.map((rows) => rows.map((row) => Object.values(row)));
        },
        release: () => connection.release(),
      };
    },
  };
}

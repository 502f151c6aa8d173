import type { PostgresClient } from '@rollgate/postgres';
import { Pool } from 'pg';
import postgres from 'postgres';

/** A client, and how to close it. */
export interface OpenClient {
  readonly client: PostgresClient;
  close(): Promise<void>;
}

/** Opens a client of each kind that connects to a server. */
export const clients = {
  'a Pool of pg': async (url: string): Promise<OpenClient> => {
    const pool = new Pool({ connectionString: url, max: 3 });
    pool.on('error', () => {}); // Tests end the server.
    return { client: pool, close: () => pool.end() };
  },
  'Postgres.js': async (url: string): Promise<OpenClient> => {
    const sql = postgres(url, { max: 3, onnotice: () => {} });
    return { client: sql, close: () => sql.end({ timeout: 1 }) };
  },
};

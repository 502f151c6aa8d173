// A budget of API calls in any 30 days for each customer. It is in PostgreSQL, so neither a restart nor a crash resets it. Without
// DATABASE_URL, it is in a folder, with a PostgreSQL that runs in this process.   npm run example postgres.ts
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rateLimit } from '@rollgate/express';
import { PostgresStore } from '@rollgate/postgres';
import express from 'express';
import { Pool } from 'pg';

const { PORT = '3000', DATABASE_URL } = process.env;

async function openDatabase() {
  if (DATABASE_URL !== undefined) return new Pool({ connectionString: DATABASE_URL });
  const { PGlite } = await import('@electric-sql/pglite');
  return PGlite.create(join(tmpdir(), 'rollgate-postgres'));
}

const store = new PostgresStore({ client: await openDatabase() });
await store.createTable();

const app = express();
app.use(
  rateLimit({
    limit: 5,
    window: '30d',
    key: (request) => request.get('X-API-Key') ?? 'anonymous',
    store,
    timeout: '2s', // A budget is worth more than a few hundred milliseconds.
    onStoreError: 'deny',
  }),
);
app.get('/', (request, response) => {
  response.json({ remaining: request.rateLimit?.remaining });
});

const server = app.listen(Number(PORT), '127.0.0.1', (error) => {
  if (error) throw error;
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  console.log(`
Rollgate behind Express, on ${url}: 5 calls of each customer in any 30 days, in ${DATABASE_URL ?? 'PGlite'}.

  for i in $(seq 7); do curl -s -w ' %{http_code}\\n' -H 'X-API-Key: ann' ${url}; done    the last two get 429, also after a restart

Ctrl-C stops the server.`);
});

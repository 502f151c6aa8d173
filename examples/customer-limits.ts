// The limits of each customer are rows of a table. A changed row is in force in all processes at once, and what the customer has
// used still counts.   DATABASE_URL=postgres://… npm run example customer-limits.ts
import type { AddressInfo } from 'node:net';
import { cachedLimits } from '@rollgate/core/cached-limits';
import { rateLimit } from '@rollgate/express';
import { PostgresStore } from '@rollgate/postgres';
import express, { type Request } from 'express';
import { Client, Pool } from 'pg';

const { PORT = '3000', DATABASE_URL } = process.env;
const pool = new Pool({ connectionString: DATABASE_URL });
const store = new PostgresStore({ client: pool });
await store.createTable();
await pool.query(`
  CREATE TABLE IF NOT EXISTS customer_limits (customer text PRIMARY KEY, limits text NOT NULL);
  CREATE OR REPLACE FUNCTION notify_limits() RETURNS trigger AS $$
    BEGIN PERFORM pg_notify('customer_limits', NEW.customer); RETURN NEW; END
  $$ LANGUAGE plpgsql;
  CREATE OR REPLACE TRIGGER notify_limits AFTER INSERT OR UPDATE ON customer_limits
    FOR EACH ROW EXECUTE FUNCTION notify_limits();
`);

const limits = cachedLimits({
  load: async (customer) => {
    const { rows } = await pool.query('SELECT limits FROM customer_limits WHERE customer = $1', [customer]);
    return rows[0]?.limits as string | undefined;
  },
  defaultLimits: '5/1h',
});

// A connection of its own, because a pool closes idle ones. While it is down, limits are at most `ttl` old.
const listener = new Client({ connectionString: DATABASE_URL });
listener.on('notification', ({ payload }) => limits.refresh(payload));
listener.on('error', (error) => console.error(error));
await listener.connect();
await listener.query('LISTEN customer_limits');

const app = express();
const customerOf = (request: Request) => request.get('X-Customer') ?? 'anonymous'; // In your app, from your authentication.
app.use(rateLimit({ limits: (request) => limits(customerOf(request)), key: customerOf, store }));
app.get('/', (request, response) => {
  response.json({ limit: request.rateLimit?.limit, remaining: request.rateLimit?.remaining });
});

const server = app.listen(Number(PORT), '127.0.0.1', (error) => {
  if (error) throw error;
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  console.log(`
Limits of customers from PostgreSQL, on ${url}: 5 requests an hour, unless the customer has a row.

  curl -H 'X-Customer: acme' ${url}
  psql $DATABASE_URL -c "INSERT INTO customer_limits VALUES ('acme', '1000/1h')"    the next request has the new limit

Ctrl-C stops the server.`);
});

// A server with several workers on one machine. They share a limit in a file, which survives their restarts.   npm run example sqlite.ts
import cluster from 'node:cluster';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rateLimit } from '@rollgate/express';
import { SqliteStore } from '@rollgate/sqlite';
import express from 'express';
import Database from 'libsql';

const { PORT = '3000', WORKERS = '2', LIMITS_FILE = join(tmpdir(), 'rollgate-limits.db') } = process.env;

const database = new Database(LIMITS_FILE);

if (cluster.isPrimary) {
  database.exec('PRAGMA journal_mode = WAL'); // The file keeps this, and two processes must not change it at the same time.
  database.close();
  for (let worker = 0; worker < Number(WORKERS); worker++) cluster.fork();
  cluster.once('listening', (_worker, { port }) => {
    const url = `http://127.0.0.1:${port}`;
    console.log(`
Rollgate behind Express, on ${url}: ${WORKERS} workers share 10 requests per client and minute, in ${LIMITS_FILE}.

  for i in $(seq 12); do curl -s -w ' %{http_code}\\n' ${url}; done         the last two get 429, also after a restart

Ctrl-C stops the server.`);
  });
} else {
  database.exec('PRAGMA synchronous = NORMAL');
  const app = express();
  app.use(rateLimit({ limit: 10, window: '1m', store: new SqliteStore({ database }) }));
  app.get('/', (request, response) => {
    response.json({ worker: process.pid, remaining: request.rateLimit?.remaining });
  });
  app.listen(Number(PORT), '127.0.0.1', (error) => {
    if (error) throw error;
  });
}

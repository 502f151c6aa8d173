// A process that checks a key of a file for as long as it lives: node checking-process.mjs options. Writes a line for each check
// that was allowed, and `done` after the last of `checks`.
import { RateLimiter, rollingWindow } from '@rollgate/core';
import { SqliteStore } from '@rollgate/sqlite';
import Database from 'libsql';

const { file, limit, checks } = JSON.parse(process.argv[2]);
const store = new SqliteStore({ database: new Database(file) });
const limiter = new RateLimiter({ limits: rollingWindow({ limit, window: '1h' }), store, timeout: '60s' });
let left = checks;
const loops = Array.from({ length: 8 }, async () => {
  while (left-- > 0) if ((await limiter.check('ann')).allowed) process.stdout.write('allowed\n');
});
await Promise.all(loops);
process.stdout.write('done\n');

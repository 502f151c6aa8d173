// A process that checks two keys at a time, and refunds some of them: node checking-process.mjs options. It starts when the
// lock `startLock` on the server is free. Prints how many checks of each key it kept, and how many calls failed.
import { RateLimiter, rollingWindow } from '@rollgate/core';
import { PostgresStore } from '@rollgate/postgres';
import { Client, Pool } from 'pg';

const { startUrl, startLock, url, prefix, limits, keys, checks, inFlight, sweep } = JSON.parse(process.argv[2]);
const pool = new Pool({ connectionString: url, max: 2 });
const store = new PostgresStore({ client: pool, sweep });
const [user, team] = limits.map((limit) => rollingWindow({ limit, window: '1h' }));
const limiter = new RateLimiter({ limits: { user, team }, store, prefix, timeout: '60s', onStoreError: 'throw' });

const kept = {};
let failed = 0;
let left = checks;
const pick = () => `key ${Math.floor(Math.random() * keys)}`;
const count = (name) => {
  kept[name] = (kept[name] ?? 0) + 1;
};

async function load() {
  while (left-- > 0) {
    const key = { user: pick(), team: pick() };
    try {
      const decision = await limiter.check(key);
      if (!decision.allowed) continue;
      if (Math.random() < 0.2) await limiter.refund(decision);
      else for (const [limit, name] of Object.entries(key)) count(`${limit} ${name}`);
    } catch {
      failed++;
    }
  }
}

const start = new Client({ connectionString: startUrl });
await start.connect();
await start.query(`SELECT pg_advisory_xact_lock_shared(${startLock})`);
await start.end();
await Promise.all(Array.from({ length: inFlight }, load));
await pool.end();
console.log(JSON.stringify({ kept, failed }));

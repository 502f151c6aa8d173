// Records the states that a build writes, and what it decides when it continues with them. The test stored-states.test.ts of
// @rollgate/redis holds every later build to that. `node scripts/record-states.mjs <name> [folder]` uses the build in `folder`,
// a checkout, and writes packages/redis/test/recorded-states/<name>.json.gz.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { transformSync } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));
const [name, folder = root] = process.argv.slice(2);
if (name === undefined) throw new Error('Expected a name: node scripts/record-states.mjs <name> [folder]');
const PORT = 7000 + (process.pid % 1000);

// The older packages run the history of this checkout.
const require = createRequire(join(root, 'packages/redis/package.json'));
require.extensions['.ts'] = (module, file) => {
  const source = require('node:fs').readFileSync(file, 'utf8');
  const code = transformSync(source, { loader: 'ts', format: 'cjs' }).code.replaceAll('-history.js', '-history.ts');
  module._compile(code, file);
};
const { continueHistory, writeHistory } = require('./test/support/recorded-history.ts');
const { LOGS, openCustom, openRedis, readRedis } = require('./test/support/recorded-states.ts');
const { Redis } = require('ioredis');

const build = (path) => require(join(resolve(folder), 'packages', path));
const [core, storeApi, redisApi] = ['core/dist/index.js', 'core/dist/store-api.js', 'redis/dist/index.js'].map(build);

const server = spawn('redis-server', ['--port', String(PORT), '--save', '', '--dir', tmpdir()], { stdio: 'ignore' });
const client = new Redis(PORT, { maxRetriesPerRequest: null, retryStrategy: () => 50 });
client.on('error', () => {}); // Until the server listens.
const recorded = { redis: {}, custom: {} };
try {
  await Promise.race([
    client.ping(),
    delay(10_000).then(() => Promise.reject(new Error('redis-server did not start'))),
  ]);
  for (const log of LOGS) {
    await client.flushall();
    await writeHistory(core, openRedis(redisApi, client, log));
    const states = await readRedis(client);
    recorded.redis[log] = { states, decided: await continueHistory(core, openRedis(redisApi, client, log)) };
  }
} finally {
  client.disconnect();
  server.kill();
  await once(server, 'exit');
}
const rows = new Map();
await writeHistory(core, openCustom(storeApi, rows));
const states = [...rows];
recorded.custom = { states, decided: await continueHistory(core, openCustom(storeApi, rows)) };
const file = join(root, 'packages/redis/test/recorded-states', `${name}.json.gz`);
writeFileSync(file, gzipSync(JSON.stringify(recorded), { level: 9 }));
console.log(`Recorded ${file}`);

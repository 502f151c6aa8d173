// Upgrades two processes on one private Redis under load, one after the other, and compares what they were allowed with the
// limits: `node scripts/rolling-upgrade.mjs <revision>` starts with a build of that revision, and ends with this one.
// Each window is longer than the run, so the units that the processes kept and those that are free add up to the limit.
import { execFileSync, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const WORKER = join(root, 'scripts/rolling-upgrade-worker.mjs');
/** How long each of the five phases takes: before, between and after the two replacements, and during each of them. */
const PHASE_MS = 5000;
const [KEYS, LIMIT] = [200, 400];
const [revision] = process.argv.slice(2);
if (revision === undefined) throw new Error('Expected a revision: node scripts/rolling-upgrade.mjs <revision>');

const require = createRequire(join(root, 'packages/redis/package.json'));
const { Redis } = require('ioredis');
const { limitsOf, storeOf } = await import('./rolling-upgrade-limits.mjs');
const current = { core: require('@rollgate/core'), redis: require('@rollgate/redis'), limit: LIMIT };

function build(folder) {
  const run = (command, ...args) =>
    execFileSync(command, args, { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
  execFileSync('git', ['worktree', 'add', '--quiet', '--detach', folder, revision], { cwd: root });
  run('npm', 'run', '-s', 'setup');
  run('npm', 'run', '-s', 'build');
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  return port;
}

/** What all processes together were allowed and kept, by limit and key. */
class Totals {
  operations = 0;
  errors = [];
  kept = new Map();

  add({ operations, errors, kept }) {
    this.operations += operations;
    this.errors.push(...errors);
    for (const [id, units] of Object.entries(kept)) this.kept.set(id, (this.kept.get(id) ?? 0) + units);
  }

  /** The keys whose kept and free units don't add up to the limit. */
  async findWrong(client) {
    const wrong = [];
    for (const [id, units] of this.kept) {
      const [name, key] = id.split(' ');
      // Slots of a process that has ended are free again, so only their most is known.
      if (name === 'slots') {
        if (units > LIMIT) wrong.push(`${id}: ${units} slots of ${LIMIT}`);
        continue;
      }
      const store = storeOf(name, current, client);
      const limiter = new current.core.RateLimiter({ limits: limitsOf(current)[name], store, prefix: name });
      const { remaining } = await limiter.peek(key);
      // A leaky bucket keeps the place of a start that has passed, even if its units are settled down.
      const isWrong = name === 'leaky' ? units + remaining > LIMIT : units + remaining !== LIMIT;
      if (isWrong) wrong.push(`${id}: ${units} kept and ${remaining} free of ${LIMIT}`);
    }
    return wrong;
  }
}

async function upgrade(folder, port) {
  const start = (from) => fork(WORKER, [JSON.stringify({ folder: from, port, keys: KEYS, limit: LIMIT })]);
  const totals = new Totals();
  const stop = async (worker) => {
    const report = once(worker, 'message');
    worker.send('stop');
    totals.add((await report)[0]);
  };
  const workers = [start(folder), start(folder)];
  for (const index of workers.keys()) {
    await delay(PHASE_MS);
    const replacement = start(root);
    await delay(PHASE_MS);
    await stop(workers[index]);
    workers[index] = replacement;
  }
  await delay(PHASE_MS);
  for (const worker of workers) await stop(worker);
  return totals;
}

const folder = mkdtempSync(join(tmpdir(), 'rollgate-older-'));
const port = await freePort();
const server = spawn('redis-server', ['--port', String(port), '--save', '', '--dir', folder], { stdio: 'ignore' });
const client = new Redis(port, { maxRetriesPerRequest: null, retryStrategy: () => 50 });
client.on('error', () => {}); // Until the server listens.
try {
  await client.ping();
  build(join(folder, 'checkout'));
  const totals = await upgrade(join(folder, 'checkout'), port);
  const wrong = await totals.findWrong(client);
  console.log(
    `${totals.operations} checks of ${totals.kept.size} keys, ${totals.errors.length} errors, ${wrong.length} wrong`,
  );
  for (const text of [...new Set(totals.errors), ...wrong].slice(0, 20)) console.error(text);
  if (wrong.length + totals.errors.length > 0 || totals.operations === 0) process.exitCode = 1;
} finally {
  client.disconnect();
  server.kill();
  await once(server, 'exit');
  execFileSync('git', ['worktree', 'remove', '--force', join(folder, 'checkout')], { cwd: root });
  rmSync(folder, { recursive: true });
}

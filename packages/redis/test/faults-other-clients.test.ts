import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { RedisServer } from '@rollgate/test-support';
import { effort } from '@rollgate/test-support/effort';
import { clients } from './support/clients.js';
import { LONG_TIMEOUT_MS, Trial } from './support/fault-trial.js';

const KINDS = ['iovalkey', 'Valkey GLIDE', '@upstash/redis'] as const;

let server: RedisServer;
beforeEach(async () => {
  server = await RedisServer.start();
});
afterEach(() => server.stop());

async function startTrial(timeoutMs?: number): Promise<Trial> {
  const opened = await Promise.all(
    KINDS.map(async (kind) => {
      const { client, close } = await clients[kind](server.url);
      if (kind === 'iovalkey') (client as unknown as NodeJS.EventEmitter).on('error', () => {});
      return { kind, client, end: close };
    }),
  );
  return new Trial(opened, timeoutMs);
}

test('a server that has lost its scripts', async () => {
  const trial = await startTrial(LONG_TIMEOUT_MS);
  try {
    await trial.untilServed();
    await server.run('SCRIPT', 'FLUSH');
    await trial.untilServed();
    await trial.finish(0);
    expect(trial.failedCount).toBe(0);
  } finally {
    await trial.stop();
  }
});

test('rejected writes, silence and the end of the server', async () => {
  const trial = await startTrial();
  try {
    await trial.untilServed();
    await server.run('REPLICAOF', server.host, 1);
    await trial.untilFailing();
    expect(trial.errorMessages).toMatch(/READONLY|ReadOnly/);
    await server.run('REPLICAOF', 'NO', 'ONE');
    await trial.untilServed();
    server.pause();
    await trial.untilFailing();
    server.resume();
    await trial.untilServed();
    await server.kill();
    await trial.untilFailing();
    await server.restart();
    await trial.untilServed();
    await trial.finish();
  } finally {
    await trial.stop();
  }
});

// GLIDE keeps a process for some seconds while it connects.
const thoroughTest = effort(test.skip, test);

thoroughTest('a process whose server has ended ends without `process.exit` after it closes its clients', async () => {
  await server.kill();
  const script = `
    import { RateLimiter, rollingWindow } from '@rollgate/core';
    import { RedisStore } from '@rollgate/redis';
    import { Redis as Upstash } from '@upstash/redis';
    import { GlideClient, Logger } from '@valkey/valkey-glide';
    import { Redis } from 'iovalkey';
    Logger.setLoggerConfig('off');
    const host = '${server.host}';
    const port = ${server.port};
    const glide = await GlideClient.createClient({ addresses: [{ host, port }], lazyConnect: true });
    const valkey = new Redis(port, host).on('error', () => {});
    const upstash = new Upstash({ url: 'http://' + host + ':' + port, token: 'x', retry: { retries: 1, backoff: () => 9 } });
    const limits = rollingWindow({ limit: 10, window: '1h' });
    const pending = [];
    for (const client of [glide, valkey, upstash]) {
      const store = new RedisStore({ client });
      const limiter = new RateLimiter({ limits, store, timeout: 200, onStoreError: 'fallback' });
      pending.push(new RateLimiter({ limits, store, timeout: 600, onStoreError: 'deny' }).check('bob'));
      for (let call = 0; call < 3; call++) console.log((await limiter.check('ann')).remaining);
    }
    glide.close();
    valkey.disconnect();
    for (const { degraded } of await Promise.all(pending)) console.log(degraded);
  `;
  const { stdout, stderr } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script], {
    cwd: `${__dirname}/..`, // Here the built packages are found by name.
    timeout: 100_000,
  });
  expect(stdout).toBe(`${'9\n8\n7\n'.repeat(3)}${'deny\n'.repeat(3)}`);
  const warnings = stderr.split('\n').filter((line) => line.includes('Warning'));
  expect(warnings).toEqual(
    Array(3).fill(expect.stringContaining('[ROLLGATE_STORE_FAILED] RollgateWarning: The store')),
  );
});

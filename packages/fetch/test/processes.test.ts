import { type ChildProcess, fork } from 'node:child_process';
import { RedisServer, until } from '@rollgate/test-support';
import { AlignedWindows } from '@rollgate/test-support/api-quotas';
import { LimitedApiServer } from '@rollgate/test-support/limited-api-server';
import { LIMITED_APIS } from '@rollgate/test-support/limited-apis';

// Processes share a private Redis, and have more calls to make than a server on this machine allows. The simulation has the other
// cases, in virtual time.

let redis: RedisServer;
let server: LimitedApiServer;
let processes: ChildProcess[] = [];
beforeAll(async () => {
  redis = await RedisServer.start();
  const quota = new AlignedWindows(20, 1000);
  server = await LimitedApiServer.start({ api: LIMITED_APIS.github, quota, latencyMs: [20, 60] });
});
afterAll(async () => {
  for (const process of processes) process.kill('SIGKILL');
  server.close();
  await redis.stop();
});

test('a process goes on after another one was killed', async () => {
  const options = JSON.stringify({ address: server.url + LIMITED_APIS.github.path, redisUrl: redis.url });
  const start = () => fork(`${__dirname}/calling-process.mjs`, [options], { execArgv: ['--no-warnings'] });
  processes = [start(), start()];
  const hasAllowed = (units: number) => until(`${units} are allowed`, async () => server.counts.allowed >= units);
  await hasAllowed(25);
  processes[0]!.kill('SIGKILL');
  // A busy machine delays some calls into the next window, where they may be rejected.
  await hasAllowed(server.counts.allowed + 40);
});

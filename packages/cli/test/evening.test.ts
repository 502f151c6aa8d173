import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { RedisServer } from '@rollgate/test-support';
import { effort } from '@rollgate/test-support/effort';
import { rollgate } from './support/rollgate';

const PROCESSES = 3;
const USERS = effort(6000, 1_000_000);

let redis: RedisServer;
const children: ChildProcess[] = [];
beforeAll(async () => {
  redis = await RedisServer.start();
});
afterAll(async () => {
  for (const child of children) child.kill();
  await redis.stop();
});

test('top finds the one key that has reached its limit among all, in little memory, while processes check', async () => {
  for (let number = 0; number < PROCESSES; number++) {
    const args = [redis.url, 'api', number, PROCESSES, USERS].map(String);
    children.push(fork(join(__dirname, 'support/evening-process.mjs'), args));
  }
  await Promise.all(children.map((child) => once(child, 'message')));
  const { code, stdout, stderr } = await rollgate(['top', redis.url, '--json'], {
    nodeOptions: ['--max-old-space-size=32'],
  });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const { states, top } = JSON.parse(stdout);
  // A scan of a table that grows may return a key twice.
  expect(states).toBeGreaterThanOrEqual(USERS + 1);
  expect(top).toHaveLength(20);
  expect(top[0]).toMatchObject({ key: 'abuser', share: 1, allowed: false });
  expect(top[1].share).toBeLessThan(0.7);
});

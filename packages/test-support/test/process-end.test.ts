import { existsSync } from 'node:fs';
import { until } from '@rollgate/test-support';
import { runInOwnProcess } from './own-process.js';

const isRunning = (pid: number) => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

test.each([
  ['ends by process.exit', 'process.exit(7);', { code: 7 }],
  ['ends by an uncaught error', 'setImmediate(() => { throw new Error("oh"); });', { code: 1 }],
  ['is killed', 'process.kill(process.pid, "SIGKILL");', { signal: 'SIGKILL' }],
  ['exits with a server that is paused', 'server.pause(); process.exit();', { code: 0 }],
  ['exits after its server was restarted', 'await server.restart(); await tell(); process.exit();', { code: 0 }],
])('nothing is left of a process that %s', async (_, end, outcome) => {
  const script = `
    const server = await RedisServer.start();
    const tell = async () => console.log(JSON.stringify([server.pid, (await server.run('CONFIG', 'GET', 'dir'))[1]]));
    await tell();
    ${end}
  `;
  const ended = await runInOwnProcess(script);
  expect(ended).toMatchObject(outcome);
  const told: [number, string][] = ended.stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  for (const [pid, folder] of told) {
    await until('server and folder are gone', async () => !isRunning(pid) && !existsSync(folder));
  }
});

test('a process whose servers are stopped ends by itself', async () => {
  const script = `
    const server = await RedisServer.start();
    console.log(await server.run('PING'));
    await server.stop();
  `;
  expect(await runInOwnProcess(script)).toEqual({ code: 0, signal: null, stdout: 'PONG\n', stderr: '' });
});

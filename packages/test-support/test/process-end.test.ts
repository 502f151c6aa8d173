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
  ['gets a SIGKILL', 'process.kill(process.pid, "SIGKILL");', { signal: 'SIGKILL' }],
  ['exits with a paused server', 'server.pause(); process.exit();', { code: 0 }],
  ['exits after a restart of its server', 'await server.restart(); await printServer(); process.exit();', { code: 0 }],
])('no server or folder is left after a process %s', async (_, end, outcome) => {
  const script = `
    const server = await RedisServer.start();
    const printServer = async () => console.log(JSON.stringify([server.pid, (await server.run('CONFIG', 'GET', 'dir'))[1]]));
    await printServer();
    ${end}
  `;
  const ended = await runInOwnProcess(script);
  expect(ended).toMatchObject(outcome);
  const servers: [number, string][] = ended.stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  for (const [pid, folder] of servers) {
    await until('the server has ended and its folder is deleted', async () => !isRunning(pid) && !existsSync(folder));
  }
});

test('a process ends by itself after it stops its servers', async () => {
  const script = `
    const server = await RedisServer.start();
    console.log(await server.run('PING'));
    await server.stop();
  `;
  expect(await runInOwnProcess(script)).toEqual({ code: 0, signal: null, stdout: 'PONG\n', stderr: '' });
});

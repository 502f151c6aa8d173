import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, readFileSync, renameSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { combinedLine, START_MS, toLog } from './support/log-lines';
import { folder, MAIN, rollgate, write } from './support/rollgate';

const LIMIT = ['--limit', '2/1m'];
const at = (name: string) => join(folder(), name);
const hits = (...seconds: number[]) =>
  toLog(seconds.map((second) => ({ ms: START_MS + second * 1000, ip: '192.0.2.1' })));

/** Watches the file and returns how to wait for a verdict that contains a text. */
function watchFile(name: string) {
  const args = [MAIN, 'watch', name, '--limit', '2/1m'];
  const child: ChildProcessByStdio<null, Readable, Readable> = spawn(process.execPath, args, {
    cwd: folder(),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const until = async (text: string) => {
    for (;;) {
      const { value, done } = await lines.next();
      if (done) throw new Error(`The command ended before it printed ${JSON.stringify(text)}`);
      if (value.includes(text)) return value;
    }
  };
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text) => (stderr += text));
  return { child, until, stderr: () => stderr };
}

test('watch follows lines that are added, a file that is replaced, and one that is truncated', async () => {
  write('live.log', hits(0, 1));
  const { child, until, stderr } = watchFile('live.log');
  expect(await until('of 2 requests')).toBe('2026-03-01 00:00:01 UTC: 2/1m would have rejected none of 2 requests');
  const added = hits(2, 3);
  appendFileSync(at('live.log'), added.slice(0, -20)); // The last line is not complete.
  await until('rejected 1 of 3 requests (33.3%), all from one caller');
  appendFileSync(at('live.log'), added.slice(-20));
  await until('rejected 2 of 4 requests');
  renameSync(at('live.log'), at('live.log.1'));
  appendFileSync(at('live.log.1'), hits(4));
  write('live.log', hits(61));
  await until('rejected 3 of 6 requests');
  truncateSync(at('live.log'));
  await once(child.stderr, 'data');
  appendFileSync(at('live.log'), hits(62));
  await until('of 7 requests');
  expect(stderr()).toBe(
    'live.log was replaced. Watching continues at its start\nlive.log was truncated. Watching continues at its start\n',
  );
  const closed = once(child, 'close');
  child.kill('SIGINT');
  expect(await closed).toEqual([130, null]);
});

test('watch reads standard input and prints one JSON object for each change', async () => {
  const input = [hits(0), hits(1, 2), `${combinedLine({ ms: START_MS + 500, ip: '192.0.2.1' })}\n`];
  const { code, stdout } = await rollgate(['watch', '--limit', '2/1m', '--json'], { input });
  const found = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(code).toBe(0);
  expect(found.map(({ command, requests, rejectedRequests }) => [command, requests, rejectedRequests])).toEqual([
    ['watch', 1, 0],
    ['watch', 3, 1],
    ['watch', 4, 2],
  ]);
  // A late request counts at the time of the latest one.
  expect(found[2].to).toBe('2026-03-01T00:00:02.000Z');
});

test('watch does not follow a missing or a compressed file', async () => {
  write('packed.log', gzipSync(readFileSync(at('live.log'))));
  expect(await rollgate(['watch', 'packed.log', '--limit', '2/1m'])).toEqual({
    code: 1,
    stdout: '',
    stderr: 'rollgate: Cannot watch packed.log: it is compressed or not in UTF-8\n',
  });
  expect(await rollgate(['watch', 'missing.log', '--limit', '2/1m'])).toMatchObject({
    code: 1,
    stderr: 'rollgate: Cannot read missing.log: there is no such file\n',
  });
});

test('watch closes a file that it does not follow', async () => {
  // Node warns when the garbage collector finds an open file.
  const collect = "data:text/javascript,process.once('beforeExit',()=>{gc();setImmediate(()=>{})})";
  const nodeOptions = ['--expose-gc', '--import', collect];
  expect(await rollgate(['watch', 'packed.log', ...LIMIT], { nodeOptions })).toEqual({
    code: 1,
    stdout: '',
    stderr: 'rollgate: Cannot watch packed.log: it is compressed or not in UTF-8\n',
  });
});

test('watch reads a pipe by its name until its end', async () => {
  const command = 'printf %s "$0" | "$@"';
  const child = spawn('sh', ['-c', command, hits(0, 1, 2), process.execPath, MAIN, 'watch', '/dev/stdin', ...LIMIT]);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (output += text));
  const [code] = await once(child, 'close');
  const verdict = '2026-03-01 00:00:02 UTC: 2/1m would have rejected 1 of 3 requests (33.3%), all from one caller';
  expect({ code, output }).toEqual({ code: 0, output: `${verdict}\n` });
});

test('watch does not follow a folder', async () => {
  const { code, stderr } = await rollgate(['watch', folder(), ...LIMIT]);
  expect({ code, stderr }).toEqual({ code: 1, stderr: `rollgate: Cannot read ${folder()}: it is a directory\n` });
});

test('watch reports lines that it cannot parse, once, and exits with 1 if the log ends without a request', async () => {
  const bad = 'line 1 of standard input: it is in no known format; describe it with `--pattern`: "prose"';
  expect(await rollgate(['watch', ...LIMIT], { input: ['prose\n', 'more prose\n'] })).toEqual({
    code: 1,
    stdout: '',
    stderr: `1 of 1 line (100%) could not be parsed; the first, ${bad}\nrollgate: No line in standard input (2 lines) is a request; the first, ${bad}\n`,
  });
  const { code, stdout, stderr } = await rollgate(['watch', ...LIMIT, '--json'], { input: [`${hits(0)}prose\n`] });
  const warning =
    '1 of 2 lines (50%) could not be parsed; the first, line 2 of standard input: it is not in the common or combined format: "prose"';
  expect({ code, stderr }).toEqual({ code: 0, stderr: `${warning}\n` });
  expect(JSON.parse(stdout)).toMatchObject({
    command: 'watch',
    by: 'ip',
    requests: 1,
    warnings: [warning],
    log: { lines: 2, unparsedLines: 1, formats: [{ file: 'standard input', format: 'combined', requests: 1 }] },
  });
});

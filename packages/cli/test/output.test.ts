import { spawn } from 'node:child_process';
import { closeSync, lstatSync, openSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { START_MS, toLog } from './support/log-lines';
import { folder, MAIN, rollgate, write } from './support/rollgate';

const LIMIT = ['--limit', '1/1m'];
const LOG = toLog([0, 1].map((second) => ({ ms: START_MS + second * 1000, ip: '192.0.2.1' })));

beforeAll(() => write('a.log', LOG));

const at = (name: string) => join(folder(), name);

/** Runs the command with standard output or standard error at some file. */
async function writingTo(file: string, args: readonly string[], stream: 1 | 2 = 1) {
  const descriptor = openSync(file, 'w');
  const stdio = ['ignore', 'pipe', 'pipe'].map((kind, index) => (index === stream ? descriptor : kind));
  const child = spawn(process.execPath, [MAIN, ...args], { cwd: folder(), stdio: stdio as ['ignore', 'pipe', 'pipe'] });
  closeSync(descriptor);
  let output = '';
  (stream === 1 ? child.stderr : child.stdout).setEncoding('utf8').on('data', (text) => (output += text));
  const code = await new Promise((resolve, reject) => child.on('error', reject).on('close', resolve));
  return { code, output };
}

const FULL = { code: 3, output: 'rollgate: Cannot write standard output: there is no space left\n' };

test.each([[['simulate', 'a.log', ...LIMIT]], [['simulate', 'a.log', ...LIMIT, '--json']], [['--help']]])(
  '%j reports a full disk and exits with 3',
  async (args) => {
    expect(await writingTo('/dev/full', args)).toEqual(FULL);
  },
);

test('a file receives the whole output', async () => {
  const { code } = await writingTo(at('found.json'), ['simulate', 'a.log', ...LIMIT, '--json']);
  expect(code).toBe(0);
  expect(JSON.parse(readFileSync(at('found.json'), 'utf8'))).toMatchObject({ requests: 2, rejectedRequests: 1 });
});

test('a file that took only a part of the output is an error', async () => {
  // Of one block: what comes then is rejected, as by a disk that gets full.
  const command = 'ulimit -f 1; exec "$0" "$@" > part.json';
  const found = ['simulate', 'a.log', '--limit', '1/1m', '--json'];
  const child = spawn('sh', ['-c', command, process.execPath, MAIN, ...found], { cwd: folder() });
  let output = '';
  child.stderr.setEncoding('utf8').on('data', (text) => (output += text));
  const code = await new Promise((resolve, reject) => child.on('error', reject).on('close', resolve));
  const why = 'the file would be larger than is permitted';
  expect({ code, output }).toEqual({ code: 3, output: `rollgate: Cannot write standard output: ${why}\n` });
  expect(statSync(at('part.json')).size).toBeGreaterThan(0);
});

test('a page whose folder does not exist exits with 3, before the log is read', async () => {
  const { code, stdout, stderr } = await rollgate(['simulate', 'a.log', ...LIMIT, '--html', 'no/such/page.html']);
  expect({ code, stdout, stderr }).toEqual({
    code: 3,
    stdout: '',
    stderr: 'rollgate: Cannot write `--html` "no/such/page.html": there is no such file\n',
  });
});

test('a page that cannot be written exits with 3', async () => {
  const { code, stdout, stderr } = await rollgate(['simulate', 'a.log', ...LIMIT, '--html', '/dev/full']);
  expect({ code, stdout, stderr }).toEqual({
    code: 3,
    stdout: '',
    stderr: 'rollgate: Cannot write `--html` "/dev/full": there is no space left\n',
  });
});

test('a closed standard error does not prevent the report', async () => {
  write('mixed.log', `${LOG}nonsense\n`);
  const args = ['simulate', 'mixed.log', ...LIMIT, '--html', 'found.html'];
  const child = spawn(process.execPath, [MAIN, ...args], { cwd: folder(), stdio: ['ignore', 'pipe', 'pipe'] });
  child.stderr.destroy();
  let stdout = '';
  child.stdout.setEncoding('utf8').on('data', (text) => (stdout += text));
  expect(await new Promise((resolve) => child.on('close', resolve))).toBe(0);
  expect(stdout).toContain('2 requests of 1 caller');
  expect(readFileSync(at('found.html'), 'utf8')).toMatch(/<\/html>\n$/);
  expect(await writingTo('/dev/full', args, 2)).toEqual({ code: 0, output: stdout });
});

test('a page is replaced atomically at the target of a link, without leftovers', async () => {
  write('page.html', 'before');
  symlinkSync('page.html', at('link.html'));
  const reader = openSync(at('page.html'), 'r');
  const { code } = await rollgate(['simulate', 'a.log', ...LIMIT, '--html', 'link.html']);
  expect(code).toBe(0);
  // Who had the old one open has all of it.
  expect(readFileSync(reader, 'utf8')).toBe('before');
  closeSync(reader);
  expect(lstatSync(at('link.html')).isSymbolicLink()).toBe(true);
  expect(readFileSync(at('page.html'), 'utf8')).toMatch(/<\/html>\n$/);
  expect(readdirSync(folder()).filter((name) => name.endsWith('.tmp'))).toEqual([]);
});

test('a target that is not a regular file is written to and not replaced', async () => {
  const { code } = await rollgate(['simulate', 'a.log', ...LIMIT, '--html', '/dev/null']);
  expect({ code, isDevice: statSync('/dev/null').isCharacterDevice() }).toEqual({ code: 0, isDevice: true });
});

describe('a log is neither overwritten nor read twice', () => {
  beforeAll(() => symlinkSync('a.log', at('b.log')));

  test.each([
    [['a.log', '--html', 'a.log'], '`--html` "a.log" would overwrite a log that is read: a.log'],
    [['a.log', '--html', 'b.log'], '`--html` "b.log" would overwrite a log that is read: a.log'],
    [['a.log', '--html', ''], 'Expected `--html` to be a file, got ""'],
    [['a.log', '--html', '-'], 'Expected `--html` to be a file, got "-"'],
    [['a.log', './a.log'], 'Expected each log once, got "./a.log" twice, which is also "a.log"'],
    [['a.log', 'b.log'], 'Expected each log once, got "b.log" twice, which is also "a.log"'],
    [['a.log', 'a.log'], 'Expected each log once, got "a.log" twice'],
    [['-', '-'], 'Expected each log once, got "standard input" twice'],
  ])('%j', async (args, message) => {
    const ended = await rollgate(['simulate', ...args, ...LIMIT], { input: [LOG] });
    expect(ended).toEqual({ code: 2, stdout: '', stderr: `rollgate: ${message}\n` });
    expect(readFileSync(at('a.log'), 'utf8')).toBe(LOG);
  });
});

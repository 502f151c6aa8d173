import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { combinedLine, START_MS, toLog } from './support/log-lines';
import { folder, MAIN, rollgate, write } from './support/rollgate';

beforeAll(() => write('small.log', toLog([{ ms: START_MS, ip: '192.0.2.1' }])));

test.each([
  [['simulate', '--limit', 'many'], /^rollgate: Expected `--limit` to be .*`100\/1m`.*, got "many"\n$/],
  [['simulate', '--limit', '0/1m'], /`--limit` .* got "0\/1m"/],
  [['simulate', '--limit', '5/1x'], /`--limit` .* got "5\/1x"/],
  [['simulate', '--limit', '5/1000y'], /`--limit` .* got "5\/1000y"/],
  [['simulate', '--limit', 'a b=5/1m'], /`--limit` .* got "a b=5\/1m"/],
  [['simulate', '--limit', 'a=5/1m', '--limit', 'a=6/1m'], /`--limit` .* a name for each limit, got "a"/],
  [['simulate'], /Expected the option `--limit`, such as `--limit 100\/1m`/],
  [['simulate', '--limt', '5/1m'], /Unknown option '--limt' \(Did you mean --limit\?\)/],
  [['simulate', '--limit', '5/1m,many'], /`--limit` .* got "many"/],
  [['simulate', '--limit', '5/1m', '--pattern', '(?<key>a)'], /`--pattern` .*`\(\?<time>…\)`, got "\(\?<key>a\)"/],
  [['simulate', '--limit', '5/1m', '--pattern', '('], /`--pattern` to be a regular expression \(/],
  [['simulate', '--limit', '5/1m', '--trusted-proxies', '10.0.0.0/99'], /`--trusted-proxies` .* got "10\.0\.0\.0\/99"/],
  [['simulate', '--limit', '5/1m', '--algorithm', 'magic'], /`--algorithm` to be one of 'rolling', .* got "magic"/],
  [['simulate', '--limit', '5/1m', '--format', 'xml'], /`--format` to be one of 'common', .* got "xml"/],
  [['simulate', '--limit', '5/1m', '--top', '-1'], /`--top` .* got "-1"/],
  [['simulate', '--limit', '5/1m', '--tolerance', 'long'], /`--tolerance` to be a time with its unit.* got "long"/],
  [['simulate', '--limit', '5/1m', '--by', 'field'], /`--by field` requires the name of the field/],
  [['simulate', '--limit', '5/1m', '--by', 'tenant', '--key-field', 'id'], /`--by` to be `ip`, .* got "tenant"/],
  [['simulate', '--limit', '5/1m', '--key-field', 'id', '--format', 'common'], /`--key-field` .* got "id"/],
  [['simulate', '--limit', '5/1m', '--by', 'tenant', '--format', 'common'], /`--by` .* got "tenant"/],
  [
    ['simulate', '--limit', '5/1m', '--cost', 'units', '--format', 'common'],
    /Expected no `--cost` with `--format common`, got "units"/,
  ],
  [['simulate', '--limit', '5/1m', '--color'], /Unknown option '--color'/],
  [['suggest', '--reject', '0.1'], /`--reject` to be a share below 100% such as `0\.1%`, got "0\.1"/],
  [['suggest', '--reject', '100%'], /`--reject` .* got "100%"/],
  [['suggest', '--window', '60000'], /`--window` to be a time with its unit, such as `1m`.* got "60000"/],
  [['simulate', '--limit', '5/M'], /`--limit` to be a clear unit, such as '1m' .* got "5\/M"/],
  [['suggest', '--window', '1M'], /`--window` to be a clear unit, such as '1m' .* got "1M"/],
  [['simulate', '--limit', '5/.5h'], /`--limit` .* with a unit such as `s`.* got "5\/\.5h"/],
  [['simulate', '--limit', '5/60000'], /`--limit` .* with a unit such as `s`.* got "5\/60000"/],
  [['replay'], /Unknown command 'replay'/],
])('%j is a usage error', async (args, message) => {
  const { code, stdout, stderr } = await rollgate([...args, 'small.log']);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toMatch(message);
});

test.each([[[]], [['simulate']], [['suggest']], [['compare']]])('%j --help prints examples', async (command) => {
  const { code, stdout, stderr } = await rollgate([...command, '--help']);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatch(/^Usage: rollgate/);
  expect(stdout).toMatch(/^Examples:\n {2}\S/m);
});

test('the examples pass several files by name instead of through a pipe', async () => {
  const { stdout } = await rollgate(['simulate', '--help']);
  expect(stdout).toContain('rollgate simulate access.log* ');
  expect(stdout).not.toContain('zcat');
});

test.each([
  [['--by', 'IP'], '`--by IP` requires; without it, `--by` is `ip`, `forwarded`, `user` or `path`: '],
  [['--key-field', 'visitor'], '`--key-field visitor` requires; '],
  [['--cost', 'units'], '`--cost units` requires; '],
])('%j requires named fields, and the message for another format says so', async (args, hint) => {
  const { code, stderr } = await rollgate(['simulate', 'small.log', '--limit', '5/1m', ...args]);
  expect(code).toBe(1);
  expect(stderr).toContain(`line 1 of small.log: it has no named fields, which ${hint}`);
});

test('--version prints the version', async () => {
  const { version } = JSON.parse(readFileSync(join(__dirname, '../package.json'), 'utf8'));
  expect(await rollgate(['--version'])).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
});

test('--json prints nothing else on standard output, and warnings on standard error', async () => {
  write('mixed.log', `${combinedLine({ ms: START_MS, ip: '192.0.2.1' })}\nnonsense\n`);
  const { code, stdout, stderr } = await rollgate(['suggest', 'mixed.log', '--json']);
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ command: 'suggest', by: 'ip', requests: 1, log: { lines: 2 } });
  expect(stderr).toBe(
    '1 of 2 lines (50%) could not be parsed; the first, line 2 of mixed.log: it is not in the common or combined format: "nonsense"\n',
  );
});

test('a reader that closes the output early is not a failure', async () => {
  const keys = Array.from({ length: 20_000 }, (_, index) => `{"time":${START_MS},"user":${index >> 1}}`);
  write('many.log', keys.join('\n'));
  const child = spawn(
    process.execPath,
    [MAIN, 'simulate', 'many.log', '--by', 'user', '--limit', '1/1m', '--top', '9999', '--json'],
    {
      cwd: folder(),
    },
  );
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text) => (stderr += text));
  child.stdout.once('data', () => child.stdout.destroy());
  const [code] = await once(child, 'close');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
});

test('an interrupted command exits with 130', async () => {
  const child = spawn(process.execPath, [MAIN, 'suggest', '-'], { cwd: folder() });
  const closed = once(child, 'close');
  // It takes more than a pipe holds only when it reads, and by then it listens.
  const line = `${combinedLine({ ms: START_MS, ip: '192.0.2.1' })}\n`;
  await new Promise((resolve) => child.stdin.write(line.repeat(20_000), resolve));
  child.kill('SIGINT');
  expect(await closed).toEqual([130, null]);
});

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, lstatSync, openSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { busyHits, combinedLine, START_MS, toLog } from './support/log-lines';
import { folder, MAIN, rollgate, simulate, write } from './support/rollgate';

describe('options', () => {
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
    [
      ['simulate', '--limit', '5/1m', '--trusted-proxies', '10.0.0.0/99'],
      /`--trusted-proxies` .* got "10\.0\.0\.0\/99"/,
    ],
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
});

describe('files and streams', () => {
  const LIMIT = ['--limit', '1/1m'];
  const LOG = toLog([0, 1].map((second) => ({ ms: START_MS + second * 1000, ip: '192.0.2.1' })));

  beforeAll(() => write('a.log', LOG));

  const at = (name: string) => join(folder(), name);

  /** Runs the command with standard output or standard error at some file. */
  async function writingTo(file: string, args: readonly string[], stream: 1 | 2 = 1) {
    const descriptor = openSync(file, 'w');
    const stdio = ['ignore', 'pipe', 'pipe'].map((kind, index) => (index === stream ? descriptor : kind));
    const child = spawn(process.execPath, [MAIN, ...args], {
      cwd: folder(),
      stdio: stdio as ['ignore', 'pipe', 'pipe'],
    });
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
});

describe('reports on a terminal', () => {
  const SECONDS: Record<string, number> = { s: 1, m: 60, h: 3600, d: 86_400 };

  test.each([50, 1_000, 4_000])('the chart has the interval of its title: %d requests', async (count) => {
    write('busy.log', toLog(busyHits(count, 2)));
    const { timeline } = await simulate(['busy.log', '--limit', '3/1m']);
    const { stdout } = await rollgate(['simulate', 'busy.log', '--limit', '3/1m']);
    const [, length, unit, peak] = /^Rejected, each (\d+)([smhd]), .*\n(?:.*\n)*? *([\d,]+)┤/m.exec(stdout)!;
    const step = (Number(length) * SECONDS[unit!]! * 1000) / timeline.widthMs;
    const sums: number[] = [];
    for (const [index, rejected] of timeline.rejected.entries()) {
      const column = Math.floor(index / step);
      sums[column] = (sums[column] ?? 0) + rejected;
    }
    expect(Number(peak!.replaceAll(',', ''))).toBe(Math.max(...sums));
    expect(sums.length).toBeLessThanOrEqual(60);
  });

  test.each([
    ['simulate', ['--limit', '3/1m']],
    ['suggest', []],
    ['compare', ['--limit', '3/1m']],
  ])('the report of %s fits 60 columns', async (command, args) => {
    write('busy.log', toLog(busyHits(1_000, 2)));
    const { stdout } = await rollgate([command, 'busy.log', ...args], { nodeOptions: [], env: { COLUMNS: '60' } });
    for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(60);
    if (command === 'simulate') expect(stdout).toMatch(/┤━.*\n *│\n +00:00 +\d\d:\d\d +\d\d:\d\d$/m);
  });

  test('columns align by the displayed width of their text', async () => {
    const callers = ['日本語', '👩‍👩‍👧 ok', 'e\u0301te\u0301', 'ﾊﾝｶｸ', '❤️', 'plain'];
    const columns = [6, 5, 3, 4, 2, 5];
    const lines = callers.flatMap((user) => [user, user].map(() => JSON.stringify({ time: START_MS, user })));
    write('wide.log', lines.join('\n'));
    const { stdout } = await rollgate(['simulate', 'wide.log', '--limit', '1/1m', '--by', 'user']);
    for (const [index, caller] of callers.entries()) {
      expect(stdout).toContain(`\n${caller}${' '.repeat('caller'.length - columns[index]!)}         2  `);
    }
  });

  test('truncation keeps no half of a surrogate pair', async () => {
    const lines = [1, 2].map(() => JSON.stringify({ time: START_MS, user: `${'x'.repeat(58)}😀😀` }));
    write('long.log', lines.join('\n'));
    const { stdout } = await rollgate(['simulate', 'long.log', '--limit', '1/1m', '--by', 'user']);
    expect(stdout).toContain(`\n${'x'.repeat(58)}…  `);
  });

  test('--top lists any number of callers', async () => {
    // With this stack, a call takes no more than 25,000 arguments.
    const nodeOptions = ['--stack-size=200'];
    const count = 30_000;
    const lines = Array.from({ length: 2 * count }, (_, index) => `{"time":${START_MS},"user":${index >> 1}}\n`);
    write('many.log', lines.join(''));
    const args = ['simulate', 'many.log', '--limit', '1/1m', '--by', 'user', '--top', String(count)];
    const { code, stdout, stderr } = await rollgate(args, { nodeOptions });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^29999 +2 +1 /m);
  });
});

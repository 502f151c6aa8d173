import { busyHits, START_MS, toLog } from './support/log-lines';
import { rollgate, simulate, write } from './support/rollgate';

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

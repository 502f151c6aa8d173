import { combinedLine, START_MS } from './support/log-lines';
import { rollgate, simulate, write } from './support/rollgate';

const LIMIT = ['--limit', '5/1m'];
const DAY = 86_400;
const YEAR = 365 * DAY;

/** Two clients take turns each minute. */
const at = (second: number) =>
  combinedLine({ ms: START_MS + second * 1000, ip: `192.0.2.${Math.abs(Math.floor(second / 60)) % 2}` });

/** How many requests count, and which lines are left out, when these seconds are a log. */
async function counted(seconds: readonly number[], ...args: string[]) {
  write('times.log', seconds.map(at).join('\n'));
  const { requests, log } = await simulate(['times.log', ...LIMIT, ...args]);
  return { requests, leftOut: log.leftOutLines, first: log.firstLeftOut?.line };
}

const steps = (count: number, step = 1) => Array.from({ length: count }, (_, index) => index * step);

describe('lines out of order', () => {
  const seconds = [...Array<number>(10).fill(0), ...Array<number>(10).fill(301), 1, 0, 0, 302];

  test('are sorted within the tolerance, and later ones are left out with a warning', async () => {
    expect(await counted(seconds)).toEqual({ requests: 22, leftOut: 2, first: 22 });
    expect(await counted(seconds, '--tolerance', '302s')).toMatchObject({ requests: 24, leftOut: 0 });
    // What comes after a later time: the one and both zeros.
    expect(await counted(seconds, '--tolerance', '0')).toEqual({ requests: 21, leftOut: 3, first: 21 });
  });

  test('are left out right after a pause of the log', async () => {
    const [pause, ...later] = [1000, 990, 980, 1010, 1020, 1030, 1040, 1050, 1060, 1070, 1080];
    expect(await counted([...steps(5), pause!, ...later], '--tolerance', '0')).toEqual({
      requests: 14,
      leftOut: 2,
      first: 7,
    });
  });

  test.each([1, 2])('are counted in the report if they are many: %d', async (count) => {
    write('times.log', [...steps(20, 60), ...Array<number>(count).fill(0)].map(at).join('\n'));
    const { stdout, stderr } = await rollgate(['simulate', 'times.log', ...LIMIT, '--html', 'times.html']);
    const warning = new RegExp(
      `${count} of ${20 + count} lines \\([\\d.]+%\\) were left out because they are more than 5m out of order; ` +
        'the first, line 21 of times\\.log, 2026-03-01 00:00:00; see --tolerance\n',
    );
    expect(stderr).toMatch(new RegExp(`^${warning.source}$`));
    expect(stdout).toMatch(new RegExp(`^Warning: ${warning.source}`, 'm'));
  });

  test('do not appear in the report if they are few', async () => {
    write('times.log', [...steps(1000, 60), 0].map(at).join('\n'));
    const { stdout, stderr } = await rollgate(['simulate', 'times.log', ...LIMIT]);
    expect(stderr).toMatch(/^1 of 1,001 lines were left out because /);
    expect(stdout).not.toContain('Warning');
  });

  test('from standard input: the warning suggests passing files', async () => {
    const { stderr } = await rollgate(['simulate', ...LIMIT], { input: [`${at(1000)}\n${at(0)}\n`.repeat(9)] });
    expect(stderr).toContain('pass the parts of a log as files');
  });
});

describe('one wrong date makes nothing else late', () => {
  test.each([
    ['dense', 1],
    ['sparse', DAY],
  ])('in a %s log, wherever it is', async (_, step) => {
    for (const place of [0, 1, 40, 75, 79, 80]) {
      const expected = { requests: 80, leftOut: 1, first: place + 1 };
      expect(await counted(steps(80, step).toSpliced(place, 0, 3 * YEAR))).toEqual(expected);
      expect(await counted(steps(80, step).toSpliced(place, 0, -3 * YEAR))).toEqual(expected);
    }
  });

  test('several wrong dates make nothing else late', async () => {
    const wrong = [3 * YEAR, 3 * YEAR + 1, 3 * YEAR];
    expect(await counted(steps(80).toSpliced(40, 0, ...wrong))).toEqual({ requests: 80, leftOut: 3, first: 41 });
  });
});

describe('a log may pause', () => {
  test('for any time', async () => {
    expect(await counted(steps(20, DAY))).toMatchObject({ requests: 20, leftOut: 0 });
    expect(await counted([...steps(20), ...steps(20).map((second) => 10 * YEAR + second)])).toMatchObject({
      requests: 40,
    });
  });

  test('before its last line, and after its first, for less than half a year', async () => {
    expect(await counted([...steps(20), 170 * DAY])).toMatchObject({ requests: 21 });
    expect(await counted([-170 * DAY, ...steps(20)])).toMatchObject({ requests: 21 });
  });
});

test('a log that runs backwards keeps what is within the tolerance', async () => {
  const backwards = steps(1000).reverse();
  expect(await counted(backwards)).toMatchObject({ requests: 301, leftOut: 699 });
  expect(await counted(backwards, '--tolerance', '1h')).toMatchObject({ requests: 1000 });
});

test('the zone and the fraction of a time count', async () => {
  const lines = ['[01/Mar/2026:02:00:00 +0200]', '[28/Feb/2026:19:00:30 -0500]', '[01/Mar/2026:00:00:59.9 +0000]'];
  write('zones.log', lines.map((time) => `a - - ${time} "GET / HTTP/1.1" 200 -`).join('\n'));
  const { from, to, rejectedRequests } = await simulate(['zones.log', '--limit', '2/1m']);
  expect([from, to, rejectedRequests]).toEqual(['2026-03-01T00:00:00.000Z', '2026-03-01T00:00:59.900Z', 1]);
});

test.each([
  '2026-03-01T00:00Z',
  '2026-03-01 00:00',
  '2026-03-01T01:00:00+01',
  '2026-03-01T01:00+01',
  '2026-02-28T19:00:00.0-0500',
])('short forms of ISO 8601 are valid: %s', async (time) => {
  write('iso.log', JSON.stringify({ time, ip: 'a' }));
  expect(await simulate(['iso.log', ...LIMIT])).toMatchObject({ from: '2026-03-01T00:00:00.000Z', requests: 1 });
});

describe('a window that is short compared with the steps of the times', () => {
  const NOTE = /^The log's times have steps of 1s, which is coarse for a window of 1s or 9s\. /m;

  test('adds a note', async () => {
    write('steps.log', steps(20).map(at).join('\n'));
    const limits = ['--limit', '5/1s', '--limit', '9/9s', '--limit', '10/10s'];
    const { stdout } = await rollgate(['simulate', 'steps.log', ...limits]);
    expect(stdout).toMatch(NOTE);
    expect((await rollgate(['suggest', 'steps.log', '--window', '1s', '--window', '9s'])).stdout).toMatch(NOTE);
    expect((await rollgate(['compare', 'steps.log', '--limit', '5/9s'])).stdout).toContain(
      'coarse for a window of 9s. ',
    );
    expect((await rollgate(['compare', 'steps.log', '--limit', '5/10s'])).stdout).not.toContain('coarse');
    expect((await simulate(['steps.log', ...limits])).log.resolutionMs).toBe(1000);
  });

  test.each([
    [60_000, 60_000],
    [300, 100],
    [7, 1],
    [0.25, 0.01],
  ])('steps of %d ms are detected as %d', async (step, resolutionMs) => {
    const lines = steps(20).map((index) => JSON.stringify({ time: (START_MS + index * step) * 1000, ip: 'a' }));
    write('steps.log', lines.join('\n'));
    expect((await simulate(['steps.log', ...LIMIT])).log.resolutionMs).toBe(resolutionMs);
  });

  test('two lines at full minutes are no proof of steps of a minute', async () => {
    write('few.log', [0, 60].map(at).join('\n'));
    expect((await simulate(['few.log', ...LIMIT])).log.resolutionMs).toBe(1000);
  });
});

test('only one line at the start and one at the end of a sparse log can have a wrong date', async () => {
  const gapMs = 200 * DAY * 1000;
  const lines = Array.from({ length: 10 }, (_, index) => JSON.stringify({ time: START_MS - gapMs * index, ip: 'a' }));
  write('sparse.log', lines.reverse().join('\n'));
  const { log, from } = await simulate(['sparse.log', '--limit', '1/1m']);
  expect(log).toMatchObject({ lines: 10, leftOutLines: 2 });
  expect(from).toBe(new Date(START_MS - gapMs * 8).toISOString());
});

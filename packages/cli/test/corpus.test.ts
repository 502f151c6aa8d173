import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { PROBLEM_VECTORS, VECTORS } from './corpus/vectors';
import { folder, rollgate, simulate, suggest, write } from './support/rollgate';

const DAY = '2026-03-01T00:00:';

beforeAll(() => cpSync(join(__dirname, 'corpus/samples'), folder(), { recursive: true }));

test.each(VECTORS.map((vector) => [vector.sample, (vector.args ?? []).join(' '), vector] as const))(
  '%s %s is read as known',
  async (sample, _, vector) => {
    const { keys = { '203.0.113.7': 4, '198.51.100.23': 2 }, times = [`${DAY}00.000Z`, `${DAY}31.000Z`] } = vector;
    const args = [sample, ...(vector.args ?? [])];
    const found = await simulate([...args, '--limit', '1/1m']);
    const { formats, unparsedLines, resolutionMs } = found.log;
    expect(Object.fromEntries(found.worstHit.map(({ key, requests }) => [key, requests]))).toEqual(keys);
    expect({ times: [found.from, found.to], resolutionMs, unparsedLines }).toEqual({
      times: [...times],
      resolutionMs: vector.resolutionMs ?? 1000,
      unparsedLines: vector.unparsed ?? 0,
    });
    const { format, wrappers = [], note = null } = vector;
    expect(formats).toEqual([{ file: sample, format, wrappers, note, requests: found.requests }]);
    expect(found.warnings).toEqual((vector.warnings ?? []).map((pattern) => expect.stringMatching(pattern)));
    expect((await suggest(args)).requests).toBe(found.requests);
  },
);

test.each(PROBLEM_VECTORS.map(({ sample, message }) => [sample, message] as const))(
  '%s is an error that names the problem',
  async (sample, message) => {
    const { code, stdout, stderr } = await rollgate(['simulate', sample, '--limit', '1/1m']);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(message);
  },
);

test('a log may mix several formats', async () => {
  const { log, worstHit } = await simulate(['two-services.log', '--limit', '1/1m']);
  expect(worstHit.map(({ key, requests }) => [key, requests])).toEqual([
    ['203.0.113.7', 4],
    ['198.51.100.23', 2],
  ]);
  expect(log.formats.map(({ format, requests }) => [format, requests])).toEqual([
    ['combined', 3],
    ['json', 3],
  ]);
});

test('the report names what surrounds each line', async () => {
  const { stdout } = await rollgate(['simulate', 'cri.log', 'stern.log', '--limit', '1/1m']);
  expect(stdout).toContain('Format of cri.log: combined, in lines of Kubernetes (CRI)\n');
  expect(stdout).toContain('Format of stern.log: combined; skipped the prefix "web-5d9c7b8f6d-x2x7k nginx "\n');
});

test('a long prefix is shortenKey in the report', async () => {
  const line = '203.0.113.7 - - [17/May/2015:10:05:03 +0000] "GET / HTTP/1.1" 200 12';
  write('long-prefix.log', `${'x'.repeat(900_000)} ${line}\n`);
  const { stdout } = await rollgate(['simulate', 'long-prefix.log', '--limit', '1/1m']);
  expect(stdout).toMatch(/skipped the prefix "x{10,100}…\n/);
});

test('the corpus has at least 60 formats', () => {
  const samples = [...VECTORS, ...PROBLEM_VECTORS].map(({ sample }) => sample);
  expect(new Set(samples).size).toBeGreaterThanOrEqual(60);
});

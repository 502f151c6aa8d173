import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { summarize } from '../bench/src/summary';
import type { Report } from '../bench/src/table';

const BENCH = join(__dirname, '../bench');
const readResults = (part: string): Report => JSON.parse(readFileSync(join(BENCH, `results/${part}.json`), 'utf8'));

const run = async (script: string, ...args: readonly string[]) =>
  (await promisify(execFile)('npm', ['--prefix', BENCH, 'run', '-s', script, '--', ...args])).stdout;

test('the pages equal the result files: `npm --prefix bench run pages` writes them', async () => {
  expect(await run('pages')).toBe('All pages unchanged\n');
});

test('a cell of the comparison comes from the command next to it', async () => {
  const library = 'rate-limiter-flexible';
  const output = await run('compare', 'most-in-window', library);
  const { cells } = readResults('comparison').rows.find(({ what }) => what === 'most-in-window')!;
  const { value } = cells[library] as { value: number };
  expect(output).toMatch(
    new RegExp(`\\| ${library} +\\| ${value} +\\| npm run compare -- most-in-window ${library} +\\|`),
  );
  await expect(run('compare', 'most-in-windows')).rejects.toThrow('Expected a probe or a library');
});

test.each([
  [8, 'less processor time on Express'],
  [9.5, 'about as much on Express'],
  [10.5, 'about as much on Express'],
  [12, 'more on Express'],
  [-12, 'less processor time on Express'],
])('the summary compares %d µs with 10 µs as a reader would', (added, expected) => {
  const express: Report = {
    headers: {},
    rows: ['allowed', 'rejected'].map((outcome) => ({
      what: `Express 5, ${outcome}: server CPU µs/request, added to the bare route's`,
      cells: { rollgate: { value: added, text: '' }, alternative: { value: 10, text: '' } },
    })),
    method: [],
  };
  const summary = summarize((part) => (part === 'express' ? express : readResults(part))).replaceAll('\n ', '');
  expect(summary).toMatch(new RegExp(`allowed request, [^.]*${expected}.*rejected one, [^.]*${expected}`, 's'));
});

import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { summarize } from '../bench/src/summary';
import type { Report } from '../bench/src/table';

const run = promisify(execFile);

const BENCH = join(__dirname, '../bench');
/** Node cannot load it, because nothing compiles its sources. */
const TEST_SUPPORT = join(__dirname, '../packages/test-support/src');
const readResults = (part: string): Report => JSON.parse(readFileSync(join(BENCH, `results/${part}.json`), 'utf8'));

/** From here the programs find the packages that they import. */
const compiled = mkdtempSync(join(BENCH, 'node_modules/.compiled-'));
afterAll(() => rmSync(compiled, { recursive: true }));

/** Runs a program of `bench/src` without tsx, which takes five times the CPU, and returns its output. */
async function runCompiled(file: string, ...args: readonly string[]): Promise<string> {
  const source = join(BENCH, 'src', file);
  const program = join(compiled, file.replaceAll('/', '-').replace(/ts$/, 'mjs'));
  const define = { 'import.meta.url': JSON.stringify(pathToFileURL(source)) };
  await build({
    ...{ entryPoints: [source], outfile: program, define, alias: { '@rollgate/test-support': TEST_SUPPORT } },
    ...{ bundle: true, packages: 'external', platform: 'node', format: 'esm', target: 'node20' },
  });
  return (await run(process.execPath, [program, ...args])).stdout;
}

test('the pages equal the result files: `npm --prefix bench run pages` writes them', async () => {
  expect(await runCompiled('update-pages.ts')).toBe('All pages unchanged\n');
  const { scripts } = JSON.parse(readFileSync(join(BENCH, 'package.json'), 'utf8'));
  expect(scripts.pages).toBe('tsx src/update-pages.ts');
});

test('a cell of the comparison comes from the command next to it', async () => {
  const library = 'rate-limiter-flexible';
  const command = ['--prefix', BENCH, 'run', '-s', 'compare', '--', 'most-in-window', library];
  const { stdout } = await run('npm', command);
  const { cells } = readResults('comparison').rows.find(({ what }) => what === 'most-in-window')!;
  const { value } = cells[library] as { value: number };
  expect(stdout).toMatch(
    new RegExp(`\\| ${library} +\\| ${value} +\\| npm run compare -- most-in-window ${library} +\\|`),
  );
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

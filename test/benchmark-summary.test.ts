import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { build, type Plugin } from 'esbuild';
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

const PROGRAMS = { pages: 'update-pages.ts', compare: 'comparison/main.ts', cell: 'comparison/cell-worker.ts' };
const programOf = (name: string) => join(compiled, `${name}.mjs`);
/** `main.ts` starts the program of a cell by its path from `src`. */
const startCompiledCell: Plugin = {
  name: 'start-compiled-cell',
  setup({ onLoad }) {
    onLoad({ filter: /\/comparison\/run\.ts$/ }, ({ path }) => {
      const source = readFileSync(path, 'utf8');
      expect(source).toContain(`'${PROGRAMS.cell}'`);
      return { contents: source.replace(PROGRAMS.cell, String(pathToFileURL(programOf('cell')))), loader: 'ts' };
    });
  },
};

beforeAll(async () => {
  const entryPoints = Object.fromEntries(
    Object.entries(PROGRAMS).map(([name, file]) => [name, join(BENCH, 'src', file)]),
  );
  // All paths in the programs are relative to `src`.
  const define = { 'import.meta.url': JSON.stringify(pathToFileURL(join(BENCH, 'src/main.ts'))) };
  await build({
    ...{ entryPoints, outdir: compiled, define, alias: { '@rollgate/test-support': TEST_SUPPORT } },
    ...{ bundle: true, packages: 'external', platform: 'node', format: 'esm', target: 'node20' },
    // In one file, the imports of all libraries would come first.
    splitting: true,
    outExtension: { '.js': '.mjs' },
    plugins: [startCompiledCell],
  });
});

/** Runs a program of `bench/src` without npm and tsx, which take five times the CPU, and returns its output. */
async function runCompiled(name: 'pages' | 'compare', ...args: readonly string[]): Promise<string> {
  const { scripts } = JSON.parse(readFileSync(join(BENCH, 'package.json'), 'utf8'));
  expect(scripts[name]).toBe(`tsx src/${PROGRAMS[name]}`);
  return (await run(process.execPath, [programOf(name), ...args])).stdout;
}

test('the pages equal the result files: `npm --prefix bench run pages` writes them', async () => {
  expect(await runCompiled('pages')).toBe('All pages unchanged\n');
});

test('a cell of the comparison comes from the command next to it', async () => {
  const library = 'rate-limiter-flexible';
  const stdout = await runCompiled('compare', 'most-in-window', library);
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

// Plants one defect at a time and runs the tests of the code that it is in: `npm run mutants`, `npm run mutants -- --only name`.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { mutants as all } from './mutants.mjs';
import { reasons } from './reasons.mjs';
import { writeReport } from './report.mjs';
import { Tree } from './tree.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
/** How long the tests of a mutant may take. One that hangs is detected. */
const LONGEST_MS = 600_000;

const { values: options } = parseArgs({
  options: { only: { type: 'string' }, check: { type: 'boolean' }, verbose: { type: 'boolean' } },
});
const { only = '' } = options;
const mutants = all.filter(({ name }) => name.includes(only));
if (mutants.length === 0) throw new Error(`No mutant has ${JSON.stringify(only)} in its name`);

const tree = new Tree(ROOT);
let child;
process.on('exit', () => {
  endTests();
  tree.remove();
});
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(130));

const problems = mutants.map((mutant) => tree.problemOf(mutant)).filter((problem) => problem !== undefined);
if (problems.length > 0) throw new Error(problems.join('\n')); // Before anything runs: a stale mutant tests nothing.
if (!options.check) process.exitCode = await campaign();

async function campaign() {
  const tests = [...new Set(mutants.flatMap((mutant) => mutant.tests))];
  console.log(`${mutants.length} mutants, ${tests.length} test files`);
  const broken = [];
  for (const test of tests) if ((await detect([test])) !== undefined) broken.push(test);
  if (broken.length > 0) throw new Error(`These tests fail without any mutant: ${broken.join(', ')}`);
  const results = [];
  for (const mutant of mutants) {
    const startMs = performance.now();
    const restore = tree.plant(mutant);
    const killedBy = await detect(mutant.tests).finally(restore);
    const seconds = Math.round((performance.now() - startMs) / 1000);
    results.push({ ...mutant, killedBy, seconds });
    const outcome = killedBy === undefined ? 'SURVIVED' : `killed by ${killedBy.file}: ${killedBy.test}`;
    console.log(`${results.length}/${mutants.length} ${mutant.name}: ${outcome} (${seconds} s)`);
    if (only === '') writeReport(results, all.length);
  }
  return results.some(({ name, killedBy }) => killedBy === undefined && reasons[name] === undefined) ? 1 : 0;
}

/** The first test that fails, if it fails again: one that fails by chance, on a busy machine perhaps, detects nothing. */
async function detect(tests) {
  for (let attempt = 0; attempt < 3; attempt++) {
    const failure = await run(tests);
    if (failure === undefined || failure.file === '' || (await run([failure.file])) !== undefined) return failure;
  }
  return undefined;
}

/** Ends the tests that run, with all that they started. */
function endTests() {
  if (child !== undefined && child.exitCode === null && child.signalCode === null) process.kill(-child.pid, 'SIGKILL');
}

/** Runs these test files until the first test fails, and resolves to that test. */
async function run(tests) {
  const report = join(tree.root, 'first-failure.json');
  rmSync(report, { force: true });
  const jest = join(tree.root, 'node_modules/jest/bin/jest.js');
  const given = ['--runInBand', '--reporters', 'default', '--reporters', join(tree.root, 'mutants/first-failure.cjs')];
  given.push('--testSequencer', join(tree.root, 'mutants/in-order.cjs'), '--runTestsByPath');
  child = spawn(process.execPath, [jest, ...given, ...tests], {
    cwd: tree.root,
    env: { ...process.env, ROLLGATE_MUTANT_REPORT: report, ROLLGATE_MUTANT_TESTS: tests.join(',') },
    stdio: ['ignore', 'ignore', options.verbose ? 'inherit' : 'ignore'],
    detached: true, // With all that it starts.
  });
  const timer = setTimeout(endTests, LONGEST_MS);
  const [code] = await once(child, 'exit');
  clearTimeout(timer);
  if (code === 0) return undefined;
  if (!existsSync(report)) return { file: '', test: code === null ? 'it hangs' : `the tests end with ${code}` };
  const { file, test } = JSON.parse(readFileSync(report, 'utf8'));
  return { file: relative(tree.root, file), test };
}

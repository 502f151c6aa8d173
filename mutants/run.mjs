// Plants one defect at a time and runs the tests of the code that it is in: `npm run mutants`, `npm run mutants -- --only name,name`.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, existsSync, readFileSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { mutants as all, staleReasons } from './mutants.mjs';
import { writeReport } from './report.mjs';
import { problemOf, Tree } from './tree.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
/** How long the tests of a mutant may take. One that hangs is detected. */
const LONGEST_MS = 420_000;

const { values: options } = parseArgs({
  options: {
    only: { type: 'string' },
    check: { type: 'boolean' },
    record: { type: 'string' },
    verbose: { type: 'boolean' },
  },
});
const { only = '' } = options;
const mutants = all.filter(({ name }) => only.split(',').some((part) => name.includes(part)));
if (mutants.length === 0) throw new Error(`No mutant has ${JSON.stringify(only)} in its name`);

const problems = [
  ...mutants.map((mutant) => problemOf(mutant, ROOT)).filter((problem) => problem !== undefined),
  ...staleReasons.map((key) => `reasons.mjs explains ${JSON.stringify(key)}, which no mutant is`),
];
if (problems.length > 0) {
  // Before anything runs: a stale mutant tests nothing.
  console.error(problems.join('\n'));
  process.exit(1);
}
if (options.check) process.exit();

const tree = new Tree(ROOT);
let child;
/** Test files that have passed without any mutant. */
const passing = new Set();
process.on('exit', () => {
  endTests();
  tree.remove();
});
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(130));

process.exitCode = await campaign();

async function campaign() {
  const known = recorded();
  const recordedOf = ({ name, description }) => known.get(`${name} ${description}`);
  const left = mutants.filter((mutant) => only !== '' || recordedOf(mutant) === undefined);
  console.log(`${left.length} of ${mutants.length} mutants`);
  const explain = (result, { reason }) => ({ ...result, reason }); // A record may be older than the reason.
  const results = mutants
    .filter((mutant) => !left.includes(mutant))
    .map((mutant) => explain(recordedOf(mutant), mutant));
  for (const mutant of left) {
    const result = await resultOf(mutant);
    results.push(explain(result, mutant));
    const { name, outcome, failure, seconds } = result;
    const cause = failure === undefined ? '' : ` (${[failure.file, failure.test].filter(Boolean).join(': ')})`;
    console.log(`${results.length}/${mutants.length} ${name}: ${outcome}${cause}, ${seconds} s`);
    if (options.record !== undefined) appendFileSync(options.record, `${JSON.stringify(result)}\n`);
    if (only === '') writeReport(results, all.length);
  }
  const isExplained = ({ outcome, reason }) => outcome === 'survived' && reason !== undefined;
  return results.every((result) => result.outcome === 'killed' || isExplained(result)) ? 0 : 1;
}

/** The last recorded result of each mutant, by its name and description: names count through a list, so they move. */
function recorded() {
  if (options.record === undefined || !existsSync(options.record)) return new Map();
  const lines = readFileSync(options.record, 'utf8').trim().split('\n');
  return new Map(
    lines.map((line) => JSON.parse(line)).map((result) => [`${result.name} ${result.description}`, result]),
  );
}

async function resultOf(mutant) {
  const startMs = performance.now();
  const { restore, codeHash } = tree.plant(mutant);
  let failure;
  try {
    failure = await detect(mutant.tests);
  } finally {
    restore();
  }
  // A test that fails without the mutant as well detects nothing.
  if (failure !== undefined && failure.file !== '' && !(await passes(failure.file))) {
    failure = { ...failure, kind: 'error', test: `${failure.test}, which fails without the mutant too` };
  }
  const seconds = Math.round((performance.now() - startMs) / 1000);
  const { name, file, description } = mutant;
  return { name, file, description, outcome: failure?.kind ?? 'survived', failure, seconds, codeHash };
}

/** Whether the test file passes without any mutant. */
async function passes(file) {
  const isKnown = passing.has(file);
  if (!isKnown && (await detect([file])) === undefined) passing.add(file);
  return passing.has(file);
}

/**
 * The first test that fails. If its message is about time or a connection, it has to fail again: one that fails by chance, on a
 * busy machine perhaps, detects nothing. A run that ends without a result is repeated once.
 */
async function detect(tests) {
  let failure;
  for (let attempt = 0; attempt < 3; attempt++) {
    const previous = failure;
    failure = await run(tests);
    if (failure?.kind === 'error' && previous?.kind !== 'error') continue;
    if (failure === undefined || failure.file === '' || failure.mayBeChance === false) return failure;
    const again = (await run([failure.file], failure.test)) ?? (await run([failure.file]));
    if (again?.kind === failure.kind) return failure;
  }
  return failure?.kind === 'error' ? failure : undefined;
}

/** Ends the tests that run, with all that they started. */
function endTests() {
  if (child !== undefined && child.exitCode === null && child.signalCode === null) process.kill(-child.pid, 'SIGKILL');
}

/**
 * Runs these test files, or their tests of this name, until the first test fails. Resolves to that test, with what its failure
 * means: `killed`; `broken` when the file cannot even be loaded, as after a compile error; `error` when the run ends without a
 * result, because no server starts or memory runs out. The last one detects nothing.
 */
async function run(tests, name) {
  const report = join(tree.root, 'first-failure.json');
  rmSync(report, { force: true });
  const jest = join(tree.root, 'node_modules/jest/bin/jest.js');
  const given = ['--runInBand', '--reporters', 'default', '--reporters', join(tree.root, 'mutants/first-failure.cjs')];
  given.push('--setupFiles', join(tree.root, 'mutants/no-shrinking.cjs'), '--testTimeout', '60000');
  given.push('--testSequencer', join(tree.root, 'mutants/in-order.cjs'), '--runTestsByPath');
  if (name !== undefined) given.unshift('--testNamePattern', `^${name.replace(/[^\w\s]/g, '.')}$`);
  child = spawn(process.execPath, [jest, ...given, ...tests], {
    cwd: tree.root,
    env: { ...process.env, ROLLGATE_MUTANT_REPORT: report, ROLLGATE_MUTANT_TESTS: tests.join(',') },
    stdio: ['ignore', 'ignore', options.verbose ? 'inherit' : 'ignore'],
    detached: true, // With all that it starts.
  });
  let hangs = false;
  const timer = setTimeout(() => {
    hangs = true;
    endTests();
  }, LONGEST_MS);
  const [code, signal] = await once(child, 'exit');
  clearTimeout(timer);
  if (hangs) return { kind: 'killed', file: '', test: 'it hangs' };
  if (code === 0) return undefined;
  if (!existsSync(report)) return { kind: 'error', file: '', test: `the run ends with ${code ?? signal}` };
  const failure = JSON.parse(readFileSync(report, 'utf8'));
  return { ...failure, file: relative(tree.root, failure.file) };
}

// Runs the tests that are most likely to detect a mistake in the changed files, or in the given files and folders:
// node scripts/related.mjs [file … [Jest options]]. Jest's own search finds most tests for any source, because a test imports
// whole packages. This search follows imports as far as the nearest file whose planted defects name the tests that detect them.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { basename } from 'node:path/posix';
import { mutants } from '../mutants/mutants.mjs';
import { importsIn } from './imports.mjs';

const PAGE_TESTS = ['test/links.test.ts', 'test/docs.test.ts'];
/** The test of entry points. All tests import these, so the search does not follow them. */
const ENTRY_TEST = 'test/exports.test.ts';
const ENTRY = /\/src\/(index|store-api|waiting-api|outgoing-api)\.m?ts$/;
const ADAPTER_TEST = 'packages/host-tests/test/wire.test.ts';
const ADAPTER = /^packages\/(express|fastify|hono|koa|nestjs|node|web)\/src\//;

const isTest = (file) => file.endsWith('.test.ts');
const isSource = (file) => /^packages\/[^/]+\/src\//.test(file);
const folderOf = (file) => /^packages\/[^/]+|^\w+/.exec(file)?.[0];
const roomOf = (file) => /^packages\/[^/]+\/src\/[^/]+\//.exec(file)?.[0];

const untracked = ['ls-files', '--others', '--exclude-standard'];
const files = git(...untracked, '--cached');
const tests = files.filter((file) => isTest(file) && !file.startsWith('docs/'));
const importers = groupBy(
  files.filter((file) => /\.m?[jt]s$/.test(file)).flatMap((file) => importsIn('.', file).map((used) => [used, file])),
);
const detectors = groupBy(mutants.flatMap((mutant) => mutant.tests.map((test) => [mutant.file, test])));

const args = process.argv.slice(2);
const firstOption = args.findIndex((arg) => arg.startsWith('-'));
const options = firstOption < 0 ? [] : args.splice(firstOption);
const changed = args.length > 0 ? args.flatMap(filesIn) : git('diff', '--name-only', 'HEAD').concat(git(...untracked));
const found = [...new Set(changed.flatMap(testsOf))];

if (options.includes('--listTests')) console.log(found.join('\n'));
else process.exitCode = run(found);

/** Runs the test files. Returns the exit code. */
function run(testFiles) {
  console.log(`Changed files: ${changed.length}, related test files: ${testFiles.length}`);
  if (testFiles.length === 0) return 0;
  const jest = ['node_modules/jest/bin/jest.js', ...options, '--runTestsByPath', ...testFiles];
  return spawnSync(process.execPath, jest, { stdio: 'inherit' }).status ?? 1;
}

/** The files that a command of Git lists, without those that no longer exist. */
function git(...command) {
  return execFileSync('git', command, { encoding: 'utf8' }).split('\n').filter(existsSync);
}

function groupBy(pairs) {
  const groups = new Map();
  for (const [key, value] of pairs) groups.set(key, [...(groups.get(key) ?? []), value]);
  return groups;
}

function filesIn(path) {
  const inside = files.filter((file) => file === path || file.startsWith(`${path.replace(/\/$/, '')}/`));
  if (inside.length === 0) throw new Error(`Expected a file or folder of the repository, got ${path}`);
  return inside;
}

function testsOf(file) {
  if (ENTRY.test(file)) return [ENTRY_TEST];
  const near = [...testsOfUsers(file), ...testsByName(file)];
  if (file.endsWith('.md')) near.push(...PAGE_TESTS);
  const all = near.length > 0 ? near : testsOfPlace(file);
  return ADAPTER.test(file) ? [...all, ADAPTER_TEST] : all;
}

/** The tests at the end of each chain of imports. A chain ends at a file with planted defects. */
function testsOfUsers(file) {
  const ends = [];
  const users = new Set([file.replace('.neutral.', '.')]);
  for (const user of users) {
    const next = (importers.get(user) ?? []).filter((other) => !ENTRY.test(other));
    ends.push(...(isTest(user) ? [user] : next.filter(isTest)), ...(detectors.get(user) ?? []));
    if (!detectors.has(user)) for (const other of next) users.add(other);
  }
  return ends;
}

/** The tests that begin with the name of a source, such as `wait-close` for `wait.ts`, or that read another file. */
function testsByName(file) {
  const [name] = basename(file).split('.');
  const hasName = (test) => new RegExp(`/${name}[.-]`).test(test);
  const folders = [folderOf(file), folderOf(ADAPTER_TEST)];
  if (ADAPTER.test(file)) return tests.filter((test) => hasName(test) && folders.includes(folderOf(test)));
  if (isSource(file)) return tests.filter(hasName);
  const isUnique = !files.some((other) => other !== file && !isSource(other) && basename(other) === basename(file));
  return isUnique ? tests.filter((test) => readFileSync(test, 'utf8').includes(basename(file))) : [];
}

/** The tests of the room, or else of the package. */
function testsOfPlace(file) {
  const room = roomOf(file);
  const ofRoom = [...detectors.keys()].filter((other) => room !== undefined && roomOf(other) === room);
  if (ofRoom.length > 0) return ofRoom.flatMap((other) => detectors.get(other));
  return tests.filter((test) => folderOf(test) === folderOf(file));
}

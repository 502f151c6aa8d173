import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const PROGRAM = join(__dirname, '../scripts/check-commits.mjs');
const BEFORE = '2026-11-01T00:00:00Z';
const AFTER = '2027-01-01T00:00:00Z';
const RIGHT = 'fix(core): keep a state\n\nA check deleted it.';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'rollgate-commits-'));
  git('init', '--quiet', '--initial-branch=main');
});
afterEach(() => rmSync(folder, { recursive: true }));

function git(...args: string[]): void {
  execFileSync('git', args, { cwd: folder });
}

function commit(message: string, time = AFTER): void {
  const identity = ['GIT_AUTHOR', 'GIT_COMMITTER'].map((role) => [
    [`${role}_NAME`, 'Ann'],
    [`${role}_EMAIL`, 'ann@example.com'],
    [`${role}_DATE`, time],
  ]);
  const env = { ...process.env, ...Object.fromEntries(identity.flat()) };
  execFileSync('git', ['commit', '--quiet', '--allow-empty', '-m', message], { cwd: folder, env });
}

/** Returns what the script prints. `isCi` is whether it runs in CI. */
function check(cwd = folder, isCi = false): string {
  const env = { ...process.env, CI: isCi ? 'true' : '' };
  const { status, stderr } = spawnSync(process.execPath, [PROGRAM], { cwd, env, encoding: 'utf8' });
  expect(status).toBe(stderr === '' ? 0 : 1);
  return stderr;
}

test('right messages', () => {
  for (const message of [
    RIGHT,
    'docs: state why\n\nBecause.',
    'perf(core,redis): read `limit` once\n\nMeasured.',
    `test: ${'x'.repeat(66)}\n\nWhy.`,
    "Merge branch 'main' into topic",
  ])
    commit(message);
  expect(check()).toBe('');
});

test('wrong messages', () => {
  const noForm = 'Expected the subject to be `type(scope): imperative summary`';
  const noBody = 'Expected a body that says why, got none';
  const mistakes: [message: string, mistake: string][] = [
    ['docs: state why', noBody],
    ['docs: state how\nand why', noBody],
    [`test: ${'x'.repeat(67)}\n\nWhy.`, 'Expected at most 72 characters in the subject, got 73'],
    ['feature: wait\n\nWhy.', noForm],
    ['fix(Core): wait\n\nWhy.', noForm],
    ['fix: wait.\n\nWhy.', noForm],
    ['Fix waits\n\nWhy.', noForm],
  ];
  for (const [message] of mistakes) commit(message);
  const printed = check().trim().split('\n');
  expect(printed.pop()).toBe('CONTRIBUTING.md describes the form of a commit');
  expect(printed.map((line) => line.slice(line.indexOf('": ') + 3)).reverse()).toEqual(
    mistakes.map(([, mistake]) => mistake),
  );
});

test('commits that `origin/main` has are checked in CI only', () => {
  commit('docs: state why');
  git('update-ref', 'refs/remotes/origin/main', 'HEAD');
  expect(check()).toBe('');
  expect(check(folder, true)).toContain('Expected a body');
  commit(RIGHT);
  expect(check()).toBe('');
  commit('docs: state how');
  expect(check()).toMatch(/^\w+ "docs: state how": Expected a body/);
});

test('commits from before the check are left alone', () => {
  commit('Start', BEFORE);
  expect(check()).toBe('');
  commit(RIGHT);
  expect(check()).toBe('');
});

test('a shallow clone has the commits to check', () => {
  commit('Start', BEFORE);
  commit(RIGHT);
  const clone = join(folder, 'clone');
  git('clone', '--quiet', '--depth=1', `file://${folder}`, clone);
  expect(check(clone)).toBe('');
  expect(check(clone, true)).toBe('');
  commit('docs: state why');
  rmSync(clone, { recursive: true });
  git('clone', '--quiet', '--depth=1', `file://${folder}`, clone);
  expect(check(clone, true)).toContain('Expected a body');
});

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const ROOT = join(__dirname, '..');
const WORKFLOWS = join(ROOT, '.github/workflows');
const workflows = readdirSync(WORKFLOWS).map((name) => ({ name, text: readFileSync(join(WORKFLOWS, name), 'utf8') }));

/** An action at a commit, with the version that the commit has. A tag could be moved to another commit. */
const PINNED = /^ +(?:- )?uses: [\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/;

test.each(workflows)('$name uses every action at a fixed commit', ({ text }) => {
  const uses = text.split('\n').filter((line) => /\buses:/.test(line));
  expect(uses).not.toEqual([]);
  expect(uses.filter((line) => !PINNED.test(line))).toEqual([]);
});

test('all workflows use an action at the same commit', () => {
  const pins = new Map<string, Set<string>>();
  for (const { text } of workflows) {
    for (const [, action, commit] of text.matchAll(/uses: ([\w-]+\/[\w-]+)[\w./-]*@(\S+)/g)) {
      pins.set(action!, (pins.get(action!) ?? new Set()).add(commit!));
    }
  }
  expect([...pins].filter(([, commits]) => commits.size > 1)).toEqual([]);
});

test.each(workflows)('$name can only read, unless a job requests more', ({ text }) => {
  expect(text).toMatch(/^permissions:\n {2}contents: read\n\n/m);
});

test('no workflow has a token of npm', () => {
  expect(workflows.filter(({ text }) => /NODE_AUTH_TOKEN|NPM_TOKEN|secrets\./.test(text))).toEqual([]);
});

test('a release lists the contents of each published package', () => {
  const folder = mkdtempSync(join(tmpdir(), 'rollgate-sbom-'));
  try {
    execFileSync('bash', ['.ci/write-sboms', folder], { cwd: ROOT });
    const { fixed } = JSON.parse(readFileSync(join(ROOT, '.changeset/config.json'), 'utf8')) as { fixed: string[][] };
    const names = fixed.flat().map((name) => name.slice('@rollgate/'.length));
    expect(readdirSync(folder).sort()).toEqual(names.map((name) => `rollgate-${name}.cdx.json`).sort());
    const contents = (name: string) =>
      (JSON.parse(readFileSync(join(folder, `rollgate-${name}.cdx.json`), 'utf8')).components ?? []) as object[];
    expect(contents('redis')).toContainEqual(expect.objectContaining({ group: '@rollgate', name: 'core' }));
    expect(contents('redis')).toContainEqual(expect.objectContaining({ name: 'cluster-key-slot' }));
  } finally {
    rmSync(folder, { recursive: true });
  }
});

// Fails unless the message of each new commit has the form that CONTRIBUTING.md describes. Part of `npm run check`:
// node scripts/check-commits.mjs
import { spawnSync } from 'node:child_process';

/** Without `origin/main`, and in CI, commits since this time count as new. */
const FIRST_TIME = '2026-11-24T00:00:00Z';
const LONGEST_SUBJECT = 72;
const SUBJECT = /^(feat|fix|perf|refactor|docs|test|build)(\([a-z0-9,-]+\))?: \S.*[^.]$/;

const problems = newCommits().flatMap(({ hash, subject, body }) =>
  mistakesIn(subject, body).map((mistake) => `${hash} ${JSON.stringify(subject)}: ${mistake}`),
);
for (const problem of problems) console.error(problem);
if (problems.length > 0) console.error('CONTRIBUTING.md describes the form of a commit');
process.exitCode = problems.length === 0 ? 0 : 1;

function mistakesIn(subject, body) {
  const mistakes = [];
  if (!SUBJECT.test(subject)) mistakes.push('Expected the subject to be `type(scope): imperative summary`');
  if (subject.length > LONGEST_SUBJECT)
    mistakes.push(`Expected at most ${LONGEST_SUBJECT} characters in the subject, got ${subject.length}`);
  if (body === '') mistakes.push('Expected a body that says why, got none');
  return mistakes;
}

/** The commits that `origin/main` lacks. CI checks all since `FIRST_TIME`, because it may run for `main` itself. */
function newCommits() {
  const isKnown = !process.env.CI && git('rev-parse', '--verify', '--quiet', 'origin/main').status === 0;
  const range = isKnown ? ['origin/main..HEAD'] : [`--since=${FIRST_TIME}`, 'HEAD'];
  const { status, stdout, stderr } = git('log', '-z', '--format=%h%n%s%n%b', ...range);
  if (status !== 0) throw new Error(stderr);
  const messages = stdout.split('\0').filter((text) => text !== '');
  return messages
    .map((text) => text.split('\n'))
    .map(([hash, subject, ...body]) => ({ hash, subject, body: body.join('\n').trim() }))
    .filter(({ subject }) => !subject.startsWith('Merge ')); // A shallow clone does not show that it has two parents.
}

function git(...args) {
  return spawnSync('git', args, { encoding: 'utf8', maxBuffer: 64e6 });
}

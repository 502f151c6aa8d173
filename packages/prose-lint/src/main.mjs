// Checks the project's Markdown, and the doc comments of the TypeScript files in CHECKED_SOURCES:
// node packages/prose-lint/src/main.mjs [--statistics] [file …].
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { docComments } from './doc-comments.mjs';
import { colonCount, problemsIn } from './problems.mjs';
import { textUnits, wordCount } from './sentences.mjs';

/** Git's patterns of the sources whose doc comments have to pass. */
const CHECKED_SOURCES = ['packages/*/src/*.ts', 'bench/src/*.ts'];

const args = process.argv.slice(2);
const wantsStatistics = args.includes('--statistics');
const named = args.filter((argument) => !argument.startsWith('--'));

const files = named.length > 0 ? named : trackedFiles(['*.md', ...CHECKED_SOURCES]);
let problemCount = 0;
const totals = { sentences: 0, words: 0, colons: 0 };

for (const file of files) {
  const source = readFileSync(file, 'utf8');
  const isMarkdown = file.endsWith('.md');
  const texts = isMarkdown
    ? [textUnits(source)]
    : docComments(source).map(({ line, markdown }) => textUnits(markdown, line));
  for (const { line, message } of texts.flatMap(problemsIn)) {
    problemCount += 1;
    if (!wantsStatistics) console.log(`${file}:${line} ${message}`);
  }
  if (isMarkdown) addTo(totals, texts.flat());
}

if (wantsStatistics) {
  const { sentences, words, colons } = totals;
  console.log(
    `${files.length} files, ${problemCount} problems; Markdown: ${sentences} sentences, ` +
      `${(words / sentences).toFixed(1)} words and ${(colons / sentences).toFixed(2)} colons or semicolons per sentence`,
  );
} else if (problemCount > 0) {
  console.error(`${problemCount} problems; CONTRIBUTING.md has the rules of style`);
  process.exitCode = 1;
}

function trackedFiles(patterns) {
  const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', ...patterns], {
    encoding: 'utf8',
  });
  // Git still lists a file that was deleted since the last commit.
  return listed.split('\n').filter((file) => existsSync(file) && !file.endsWith('CHANGELOG.md'));
}

function addTo(sums, units) {
  for (const { kind, text } of units) {
    if (kind !== 'sentence') continue;
    sums.sentences += 1;
    sums.words += wordCount(text);
    sums.colons += colonCount(text);
  }
}

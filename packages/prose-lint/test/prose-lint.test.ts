import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const MAIN = join(__dirname, '../src/main.mjs');
const folder = mkdtempSync(join(tmpdir(), 'rollgate-prose-'));
afterAll(() => rmSync(folder, { recursive: true }));

function lint(name: string, text: string): { status: number | null; problems: string[] } {
  const file = join(folder, name);
  writeFileSync(file, text);
  const { status, stdout } = spawnSync(process.execPath, [MAIN, file], { encoding: 'utf8' });
  return {
    status,
    problems: stdout
      .split('\n')
      .filter(Boolean)
      .map((line) => line.replace(`${file}:`, '')),
  };
}

test('plain text has no problem, and code counts as one word that breaks no rule', () => {
  const text = '# Set a limit\n\nSet `whoever is told` and read the response.\n\n```ts\nwhoever();\n```\n';
  expect(lint('plain.md', text)).toEqual({ status: 0, problems: [] });
});

test('a heading of two sentences may end with a period', () => {
  expect(lint('home.md', '# Ten means ten. Not more.\n').problems).toEqual([]);
  expect(lint('home.md', '# Ten means ten.\n').problems).toHaveLength(1);
});

test('each mechanical rule is checked, with its line', () => {
  const long = `${'word '.repeat(26).trim()}.`;
  const text = `# Who is asked?\n\nThe header tells the limit.\n\nIts colour: red; blue.\n\n${long}\n`;
  expect(lint('rules.md', text)).toEqual({
    status: 1,
    problems: [
      expect.stringContaining('1 "is asked"'),
      '1 Heading "Who is asked?" ends with punctuation',
      expect.stringContaining('3 "tells"'),
      '5 "colour": American spelling is "color"',
      '5 2 colons or semicolons in one paragraph, at most 1',
      expect.stringContaining('7 26 words in one sentence'),
    ],
  });
});

test('of a TypeScript file, doc comments alone are checked', () => {
  const text =
    '// Somebody is told.\n/**\n * Returns the colour.\n *\n * @param who The key.\n */\nexport const whoever = 1;\n';
  expect(lint('source.ts', text).problems).toEqual(['3 "colour": American spelling is "color"']);
});

import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export const ROOT = join(__dirname, '../..');

/**
 * The code in a fence of Markdown or of a doc comment. The word after the language states how to test it:
 *
 * - none: the code is type-checked and run, with `node --test` if it imports `node:test`
 * - `continues`: it follows the previous code of the page, and both are one program
 * - `jest`: it is type-checked, and its tests run in Jest
 * - `fragment`: it is incomplete, and another test verifies it
 */
export interface Example {
  file: string;
  /** The line of the fence; the code begins on the next. */
  line: number;
  language: 'ts' | 'js';
  note: string;
  code: string;
  /** The packages that its reader has installed: those of the install lines above it, or else the one that it imports. */
  installed: readonly string[];
}

/** Matches `npm install a b`, but no global installation. */
const INSTALL_LINE = /\bnpm install (?!--global)(?:--save-dev )?([\w@/. -]+)/;

/** The tab of a code group, which stands behind the language. */
const LABEL = /\[[^\]]*\]$/;

const ADAPTERS = [
  ...['core', 'express', 'fastify', 'hono', 'http', 'koa', 'nestjs', 'node', 'web'].map((name) => `@rollgate/${name}`),
];

/** The packages without an install line: one package of Rollgate, and those that are not adapters. */
function importedBy(code: string): string[] {
  const imported = [...code.matchAll(/from '((?:@[\w-]+\/)?[\w-]+)['/]/g)].map(([, name]) => name!);
  const [first] = imported.filter((name) => ADAPTERS.includes(name));
  return imported.filter((name) => name === first || !ADAPTERS.includes(name));
}

const LANGUAGES: Record<string, Example['language']> = { ts: 'ts', typescript: 'ts', js: 'js', javascript: 'js' };

export function linesOf(file: string): string[] {
  const lines = readFileSync(join(ROOT, file), 'utf8').split('\n');
  // Lines outside of doc comments become empty, so that the others keep their numbers.
  return file.endsWith('.ts') ? lines.map((line) => /^\s*\* ?(.*)$/.exec(line)?.[1] ?? '') : lines;
}

export function examplesIn(file: string, lines = linesOf(file)): Example[] {
  const examples: Example[] = [];
  let open: { fence: string; info: string; line: number } | undefined;
  let installed: string[] | undefined;
  for (const [index, line] of lines.entries()) {
    const added = INSTALL_LINE.exec(line)?.[1]?.trim().split(' ');
    const isAnotherLine = INSTALL_LINE.test(lines[index - 1] ?? '');
    if (added !== undefined) installed = isAnotherLine ? [...(installed ?? []), ...added] : added;
    if (open === undefined) {
      const [, fence, info = ''] = /^\s*(`{3,})(.*)$/.exec(line) ?? [];
      if (fence !== undefined) open = { fence, info, line: index + 1 };
    } else if (line.trim() === open.fence) {
      const [word = '', ...notes] = open.info.replace(LABEL, '').trim().split(/\s+/);
      const language = LANGUAGES[word];
      if (language !== undefined) {
        const code = lines.slice(open.line, index).join('\n');
        const example = { file, line: open.line, language, note: notes.join(' '), code };
        addTo(examples, { ...example, installed: installed ?? importedBy(code) });
      }
      open = undefined;
    }
  }
  if (open !== undefined) throw new Error(`${file}:${open.line}: the code has no end`);
  return examples;
}

/** Adds an example, or appends it to the one that it continues. Its lines keep their numbers. */
function addTo(examples: Example[], example: Example): void {
  const previous = examples.at(-1);
  if (example.note !== 'continues') examples.push(example);
  else if (previous === undefined) throw new Error(`${nameOf(example)}: there is no code above it to continue`);
  else {
    const linesBetween = example.line - previous.line - previous.code.split('\n').length;
    previous.code += `${'\n'.repeat(linesBetween + 1)}${example.code}`;
  }
}

/** The files with this extension in a folder and its subfolders, as paths from the root. */
function filesIn(folder: string, extension: string): string[] {
  if (!existsSync(join(ROOT, folder))) return [];
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(extension))
    .map((name) => `${folder}/${name}`)
    .sort();
}

/** The published sources, whose doc comments contain examples. */
export const SOURCES = readdirSync(join(ROOT, 'packages')).flatMap((name) => filesIn(`packages/${name}/src`, '.ts'));

/** The pages with examples. The generated pages of the site are not among them. */
export function pages(): string[] {
  const patterns = ['README.md', 'packages/*/README.md', 'docs/*.md'];
  const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', ...patterns], {
    cwd: ROOT,
  });
  const files = listed.toString().trim().split('\n');
  return files.filter((page) => existsSync(join(ROOT, page)));
}

export const nameOf = ({ file, line }: Pick<Example, 'file' | 'line'>): string => `${file}:${line}`;

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const PAGES = fileURLToPath(new URL('..', import.meta.url));

/** Search engines show no more of a description. */
const MAX_LENGTH = 160;
/** A shorter first sentence gets the next one, too. */
const MIN_LENGTH = 50;

/** Describes a page by its first sentences. A page that TypeDoc has written begins with code, so it gets its own sentence. */
export function describePage(page: string): string {
  if (page.startsWith('api/')) return describeApiPage(page);
  const file = join(PAGES, page);
  const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
  return cut(
    text
      .split(/\n{2,}/)
      .map(toPlainText)
      .filter(isSentence)
      .join(' '),
  );
}

const isSentence = (text: string): boolean => /^[\w@].*[.?]$/.test(text);

function describeApiPage(page: string): string {
  const name = page.slice('api/'.length).replace(/(?:\/index)?\.md$/, '');
  const what = name === 'index' ? 'all packages of Rollgate' : name;
  return `API reference of ${what}: functions, classes and types, with their options, defaults and errors.`;
}

/** The text of a paragraph on one line, without marks of Markdown. Empty for anything else, such as a heading or code. */
function toPlainText(block: string): string {
  if (/^(?:#|```|\||<|-|\d+\.|>|import )/.test(block)) return '';
  return block
    .replace(/\[([^\]]+)\]\([^)]*\)/g, '$1')
    .replace(/[`*]|\\(?=[[\]<>])/g, '')
    .replace(/\s+/g, ' ')
    .trim();
}

/** Whole sentences, as many as a search engine shows. */
function cut(text: string): string {
  let description = '';
  for (const sentence of text.split(/(?<=[.?]) (?=[A-Z@])/)) {
    const longer = description === '' ? sentence : `${description} ${sentence}`;
    if (longer.length > MAX_LENGTH) break;
    description = longer;
  }
  return description.length >= MIN_LENGTH || text.length <= MAX_LENGTH
    ? description
    : `${text.slice(0, MAX_LENGTH - 1).replace(/\W+\w*$/, '')}…`;
}

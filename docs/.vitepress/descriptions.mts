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

/** A page of a large package: that of a class or an interface, or of all symbols of another kind. */
const SYMBOL = /^(.+)\/(?:(class|interface)e?s\/(\w+)|(functions|types|variables|references))$/;

/** The package of a page about a single symbol, or `undefined`. Symbols of several packages may have the same name. */
export function packageOfSymbol(page: string): string | undefined {
  const [, owner, , symbol] = SYMBOL.exec(page.slice('api/'.length).replace(/\.md$/, '')) ?? [];
  return page.startsWith('api/') && symbol !== undefined ? owner : undefined;
}

function describeApiPage(page: string): string {
  const name = page.slice('api/'.length).replace(/(?:\/index)?\.md$/, '');
  const [, owner, kind, symbol, kinds] = SYMBOL.exec(name) ?? [];
  if (symbol !== undefined) return `The ${kind} ${symbol} of ${owner}, with its properties and methods in detail.`;
  if (kinds !== undefined) return `API reference of ${owner}: all ${kinds}, with their parameters and examples.`;
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

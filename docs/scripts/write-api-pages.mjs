// Arranges the pages that TypeDoc has written: `rateLimit` comes first, a large package has a page for each class and
// interface, and the index has a line for each symbol.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { anchorsOf } from '../api-reference/anchors.mjs';
import { KINDS, nameOf, parsePage, summaryOf } from '../api-reference/page-parts.mjs';

const API = fileURLToPath(new URL('../api/', import.meta.url));
/** A larger page is split. */
const MAX_CHARACTERS = 40_000;
/** Kinds whose symbols are long enough for a page each. */
const LONG = ['Classes', 'Interfaces'];

const modules = readdirSync(API, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.md') && file !== 'index.md')
  .map((file) => ({ file, original: readFileSync(API + file, 'utf8') }))
  .map((page) => ({ ...page, ...parsePage(page.original) }));

/** The new pages by file, and for each old page the new place of each of its anchors. */
const pages = new Map();
const places = new Map();
const newAnchors = new Map();
for (const page of modules) arrange(page);
for (const [file, text] of pages) write(file, rewriteLinks(file, text));
write('index.md', indexPage());

function arrange({ file, original, title, kinds }) {
  const isSplit = original.length > MAX_CHARACTERS;
  const own = [`# ${title}`];
  const placed = new Map();
  for (const { kind, symbols } of kinds) {
    own.push(`## ${kind}`);
    for (const symbol of symbols) {
      const target = isSplit ? fileOf(file, kind, symbol) : file;
      placed.set(symbol, target);
      if (target === file) own.push(symbol.text);
      else {
        const isAlone = LONG.includes(kind);
        const heading = isAlone ? '' : `# ${title}: ${kind.toLowerCase()}\n\n`;
        symbol.text = promote(symbol.text, isAlone ? 2 : 1);
        pages.set(target, `${pages.has(target) ? `${pages.get(target)}\n\n***\n\n` : heading}${symbol.text}`);
        own.push(`- [${nameOf(symbol)}](#${symbolMark(symbol)})${dash(summaryOf(symbol))}`);
      }
    }
  }
  pages.set(
    file,
    own
      .join('\n\n')
      .replace(/\n\n(?=- \[)/g, '\n')
      .replace(/(## .+)\n(?=- \[)/g, '$1\n\n'),
  );
  places.set(file, { kinds, placed, original });
}

/** The page of a symbol of a large package. */
function fileOf(file, kind, symbol) {
  const folder = file.replace(/\.md$/, '');
  return LONG.includes(kind) ? `${folder}/${KINDS[kind]}/${nameOf(symbol)}.md` : `${folder}/${KINDS[kind]}.md`;
}

/** The part of a symbol on another page, where its headings are some levels higher. */
function promote(text, levels) {
  return text.replace(new RegExp(`^#{${levels}}(#+ )`, 'gm'), '$1');
}

/** A link of the index of a split package, which has no anchor on the old page. */
function symbolMark(symbol) {
  return `symbol:${nameOf(symbol)}`;
}

function dash(summary) {
  return summary === '' ? '' : `: ${summary}`;
}

/** Leads each link to an old anchor to its new place. */
function rewriteLinks(file, text) {
  return text.replace(/\]\(([^)\s]*?)(?:#([^)\s]+))?\)/g, (link, path, anchor) => {
    if (/^[a-z]+:/.test(path) || anchor === undefined) return link;
    const from = sourceOf(file);
    const target = path === '' ? from : posix.join(posix.dirname(from), path);
    const place = placeOf(target, anchor);
    return place === undefined
      ? link
      : `](${relative(file, place.file)}${place.anchor === '' ? '' : `#${place.anchor}`})`;
  });
}

/** The old page from which a page comes. Its links are relative to that. */
function sourceOf(file) {
  return modules.find((page) => [...places.get(page.file).placed.values()].includes(file))?.file ?? file;
}

function placeOf(file, anchor) {
  const page = places.get(file);
  if (page === undefined) return undefined;
  if (anchor.startsWith('symbol:')) {
    const [symbol, target] = [...page.placed].find(([each]) => symbolMark(each) === anchor);
    const isAlone = pages.get(target).startsWith(symbol.text);
    return { file: target, anchor: isAlone ? '' : anchorIn(target, symbol, 0) };
  }
  if (!newAnchors.has(file)) newAnchors.set(file, mapAnchors(page));
  return newAnchors.get(file).get(anchor);
}

/** By old anchor, the new page and anchor. */
function mapAnchors({ original, placed }) {
  const old = anchorsOf(original);
  const headings = Array.from(original.replace(/^```[\s\S]*?^```/gm, '').matchAll(/^(#{1,6}) (.+)$/gm));
  const map = new Map();
  const seen = new Set();
  let current;
  let offset = 0;
  for (const [index, [, level, heading]] of headings.entries()) {
    if (level.length < 3) current = undefined;
    if (level.length === 3) {
      current = [...placed.keys()].find((symbol) => symbol.heading === heading && !seen.has(symbol));
      seen.add(current);
      offset = 0;
    } else offset += 1;
    if (current === undefined) continue;
    const target = placed.get(current);
    map.set(old[index], { file: target, anchor: anchorIn(target, current, offset) });
  }
  return map;
}

/** The anchor of a heading of a symbol on its new page. */
function anchorIn(file, symbol, offset) {
  const text = pages.get(file);
  const start = Math.max(text.indexOf(symbol.text), 0);
  const before = anchorsOf(text.slice(0, start)).length;
  return anchorsOf(text)[before + offset];
}

function relative(from, to) {
  const path = posix.relative(posix.dirname(from), to);
  return from === to ? '' : path;
}

/** A section for each package, with a line for each symbol that it adds. */
function indexPage() {
  const sections = modules
    .toSorted((a, b) => order(a) - order(b))
    .map(({ file, title, kinds }) => {
      const own = kinds.filter(({ kind }) => kind !== 'References').flatMap(({ symbols }) => symbols);
      const lines = own.map((symbol) => {
        const place = placeOf(file, symbolMark(symbol));
        const target = `${place.file}${place.anchor === '' ? '' : `#${place.anchor}`}`;
        return `- [${nameOf(symbol)}](${target})${dash(summaryOf(symbol))}`;
      });
      return `## [${title}](${file})\n\n${lines.map((line) => plainLinks(line)).join('\n')}`;
    });
  const introduction =
    'Every package with every symbol that it adds. Adapters also export the symbols of `@rollgate/core`.';
  return `# API\n\n${introduction}\n\n${sections.join('\n\n')}\n`;
}

/** The links of a summary are relative to its own page, so the index has only their texts. */
function plainLinks(line) {
  const [, link, rest = ''] = /^(- \[[^\]]+\]\([^)]+\))([\s\S]*)$/.exec(line);
  return link + rest.replace(/\[([^\]]+)\]\([^)]*\)/g, '$1');
}

/** Adapters and the core before packages for authors of adapters and stores. */
function order({ title }) {
  const names = ['express', 'fastify', 'hono', 'koa', 'nestjs', 'node', 'web', 'core', 'redis', 'postgres', 'sqlite'];
  const index = names.indexOf(title.replace('@rollgate/', ''));
  return index < 0 ? names.length : index;
}

function write(file, text) {
  mkdirSync(dirname(API + file), { recursive: true });
  writeFileSync(API + file, `${text.trim()}\n`);
}

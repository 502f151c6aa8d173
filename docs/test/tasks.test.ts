import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { BASE, fileOf, REDIRECTS, readBuilt } from './support/site.js';

/** What newcomers want to do, and the words by which they recognize the link or the heading that leads there. */
const TASKS: readonly (readonly [task: string, words: RegExp])[] = [
  ['limit login attempts', /login/i],
  ['run behind Cloudflare', /cloudflare|\bcdn\b/i],
  ['send a 429 of their own', /\bown 429/i],
  ['limit each user after the login', /each user/i],
  ['know what happens while Redis is down', /redis\b.* is down/i],
  ['limit one route', /one route/i],
  ['give paying users more', /paying users/i],
  ['limit the messages of a WebSocket', /websocket/i],
  ['limit the tokens of a model', /llm tokens/i],
  ['see who is limited', /who is limited/i],
  ['run in Docker or Kubernetes', /deploy/i],
  ['test their app', /^testing/i],
  ['leave out health checks', /health checks/i],
  ['set a monthly quota', /monthly quota/i],
];

const MAX_CLICKS = 2;
/** The most that a reader has to read on a page before the snippet. */
const MAX_WORDS = 120;

/** What a reader can click: a link, or a heading, which is in the outline of its page. */
interface Choice {
  readonly text: string;
  readonly page: string;
  readonly anchor: string;
}

/** A page without the groups of its sidebar that are closed. */
const htmlOf = (page: string) =>
  readBuilt(fileOf(BASE + page)!).replaceAll(
    /<section class="VPSidebarItem level-0[^"]* collapsed[^"]*".*?(?=<div class="[^"]*\bgroup\b|<\/nav>)/gs,
    '',
  );
const toText = (html: string) =>
  html
    .replace(/<[^>]+>/g, '')
    .replace(/\s+/g, ' ')
    .trim();

function toChoice(text: string, address: string, from = ''): Choice {
  const { pathname, hash } = new URL(address, `http://site${BASE}${from}`);
  return { text, page: pathname.slice(BASE.length), anchor: hash.slice(1) };
}

/** The links of a page of the site, those of its menus, and its own headings. */
function choicesOf(page: string): Choice[] {
  const html = htmlOf(page);
  const links = Array.from(html.matchAll(/<a [^>]*?href="((?:\/rollgate|\.\.?)\/[^"]*)"[^>]*>(.*?)<\/a>/gs));
  const headings = Array.from(html.matchAll(/<h[23] id="([^"]+)"[^>]*>(.*?)<a /gs));
  return [
    ...links.map(([, address, text]) => toChoice(toText(text!), address!, page)),
    ...headings.map(([, anchor, text]) => ({ text: toText(text!), page, anchor: anchor! })),
  ].filter((choice) => fileOf(BASE + choice.page)?.endsWith('.html') && !Object.hasOwn(REDIRECTS, choice.page));
}

/** The links of README.md to the site. */
const README = Array.from(
  readFileSync(join(__dirname, '../../README.md'), 'utf8').matchAll(
    /\[([^\]]+)\]\((https:\/\/[^)]+\/rollgate\/[^)]*)\)/g,
  ),
  ([, text, address]) => toChoice(text!, address!),
).filter(({ page }) => fileOf(BASE + page)?.endsWith('.html'));

/** Whether a section has a snippet that can be pasted, and how many words stand before it. */
function hasSnippet({ page, anchor }: Choice): boolean {
  const html = htmlOf(page);
  const start = anchor === '' ? html.indexOf('<h1') : html.search(new RegExp(`<h[1-6] id="${anchor}"`));
  const level = html[start + 2]!;
  const rest = html.slice(start + 1);
  const end = rest.search(anchor === '' ? /<footer|$/ : new RegExp(`<h[1-${level}] |<footer|$`));
  let words = 0;
  for (const [index, part] of rest
    .slice(0, end)
    .split(/<pre [^>]*>(.*?)<\/pre>/s)
    .entries()) {
    if (index % 2 === 1 && /^(?:import .+ from|kind: )/m.test(part.replace(/<[^>]+>/g, ''))) return true;
    if (index % 2 === 0) words += toText(part).split(' ').length;
    if (words > MAX_WORDS) return false;
  }
  return false;
}

/** The first way from these choices to a snippet, in the words that the reader clicks. */
function wayTo(words: RegExp, choices: readonly Choice[], clicks = 1): string[] | undefined {
  const found = choices.find((choice) => words.test(choice.text) && hasSnippet(choice));
  if (found !== undefined) return [found.text];
  if (clicks === MAX_CLICKS) return undefined;
  for (const page of new Set(choices.map((choice) => choice.page))) {
    const way = wayTo(words, choicesOf(page), clicks + 1);
    if (way !== undefined) return [choices.find((choice) => choice.page === page)!.text, ...way];
  }
  return undefined;
}

test.each(TASKS)(
  'two clicks from the landing page and from README.md lead to a snippet for those who want to %s',
  (_, words) => {
    expect(wayTo(words, choicesOf(''))).toBeDefined();
    expect(wayTo(words, README)).toBeDefined();
  },
);

import type { DefaultTheme, MarkdownEnv, MarkdownRenderer } from 'vitepress';
import { KEYWORDS } from './keywords.mts';

/** Separates the text of a section, its keywords, and its first sentence. */
const SEPARATOR = '\u2063';

/** The longest text below a result. */
const HINT_LENGTH = 110;

/**
 * The search of the site. VitePress sends the functions to the browser as text, so they use nothing from outside. Only
 * those with an underscore stay here.
 */
export const search: DefaultTheme.LocalSearchOptions = {
  detailedView: false,
  _render: renderWithKeywords,
  miniSearch: {
    options: {
      fields: ['title', 'titles', 'text', 'keywords'],
      storeFields: ['title', 'titles', 'hint'],
      extractField: (section, field) => {
        const [text = '', keywords = '', hint = ''] = String(section.text).split('\u2063');
        if (field === 'keywords') return keywords;
        if (field === 'hint') return hint;
        return field === 'text' ? text : (section as Record<string, string>)[field]!;
      },
      processTerm: (term) => {
        const word = term.toLowerCase();
        return /^(?:a|an|and|do|does|for|from|how|i|in|is|it|my|of|on|or|the|to|vs|what|with)$/.test(word)
          ? null
          : word;
      },
    },
    searchOptions: {
      boost: { keywords: 9, title: 4, titles: 1, text: 1 },
      // What almost every page is about says little about the one that a reader wants.
      boostTerm: (term) =>
        /^(?:all|different|gets?|limit(?:s|ed|er|ing)?|many|multiple|one|per|rate|requests?|users?|when|who)$/.test(
          term,
        )
          ? 0.1
          : 1,
      fuzzy: (term) => (term.length > 4 ? 0.2 : false),
      weights: { fuzzy: 0.2, prefix: 0.4 },
      // Guides first. The whole page before one of its sections.
      boostDocument: (id, _term, stored) => {
        const page = String(id);
        if (page.includes('/api/')) return 0.15;
        const isWholePage = (stored?.titles as readonly string[] | undefined)?.length === 0;
        return (isWholePage ? 1.3 : 1) * (/\/(?:migrating-from-|comparison|guarantees|$|#)/.test(page) ? 0.5 : 1);
      },
    },
  },
};

/** Adds to each section its keywords and its first sentence. Readers do not see them on the page. */
function renderWithKeywords(source: string, env: MarkdownEnv, markdown: MarkdownRenderer): string {
  const page = env.relativePath.replace(/\.md$/, '');
  const [searched = ''] = source.split('<!-- not searched -->');
  const sections = markdown.render(searched, env).split(/(?=<h[1-6]\b)/);
  return sections.map((html, index) => [html, keywordsOf(page, html, index), hintOf(html)].join(SEPARATOR)).join('');
}

function keywordsOf(page: string, html: string, index: number): string {
  const [, anchor] = /^<h\d[^>]* id="([^"]+)"/.exec(html) ?? [];
  const ofPage = index === 0 ? KEYWORDS[page] : undefined;
  return [ofPage, KEYWORDS[`${page}#${anchor}`]].filter(Boolean).join(' ');
}

/** The beginning of the first paragraph, as text. */
function hintOf(html: string): string {
  const [, paragraph = ''] = /<p>(.*?)<\/p>/s.exec(html.replace(/<div class="[^"]*custom-block.*?<\/div>/gs, '')) ?? [];
  const text = paragraph
    .replace(/<[^>]+>/g, '')
    .replace(/\s+/g, ' ')
    .trim();
  return text.length <= HINT_LENGTH ? text : `${text.slice(0, HINT_LENGTH - 1).replace(/\W+\w*$/, '')}…`;
}

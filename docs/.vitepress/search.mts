import type { DefaultTheme, MarkdownEnv, MarkdownRenderer } from 'vitepress';
import { KEYWORDS } from './keywords.mts';

/** Separates the text of a section from the keywords of its page. */
const SEPARATOR = '\u2063';

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
      extractField: (section, field) => {
        const [text = '', keywords = ''] = String(section.text).split('\u2063');
        if (field === 'keywords') return keywords;
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
      fuzzy: (term) => (term.length > 4 ? 0.2 : false),
      weights: { fuzzy: 0.2, prefix: 0.4 },
      // Guides first. The whole page before one of its sections.
      boostDocument: (id, _term, stored) => {
        const page = String(id);
        if (/\/(?:changelog|benchmarks)(?:#|$)/.test(page)) return 0.1;
        if (page.includes('/api/')) return 0.15;
        const isWholePage = (stored?.titles as readonly string[] | undefined)?.length === 0;
        return (isWholePage ? 1.3 : 1) * (/\/(?:migrating-from-|comparison|guarantees|$|#)/.test(page) ? 0.5 : 1);
      },
    },
  },
};

/** Adds the keywords of a page to its first section. Readers do not see them. */
function renderWithKeywords(source: string, env: MarkdownEnv, markdown: MarkdownRenderer): string {
  const html = markdown.render(source, env);
  const words = KEYWORDS[env.relativePath.replace(/\.md$/, '')];
  if (words === undefined) return html;
  const end = html.search(/<h[2-6]\b/);
  const [first, rest] = end < 0 ? [html, ''] : [html.slice(0, end), html.slice(end)];
  return `${first}${SEPARATOR}${words}${rest}`;
}

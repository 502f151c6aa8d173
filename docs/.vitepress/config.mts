import { defineConfig } from 'vitepress';
import { rewriteLinks, slugify } from './links.mts';
import { writePlainMarkdown } from './plain-markdown.mts';
import { createSidebar } from './sidebar.mts';
import { BASE, REPOSITORY, SITE, VERSION } from './site.mts';

export default defineConfig({
  title: 'Rollgate',
  description: 'A rate limiter for Node with exact rolling windows, in memory and in Redis',
  lang: 'en-US',
  base: BASE,
  cleanUrls: true,
  lastUpdated: true,
  ignoreDeadLinks: false,
  srcExclude: [
    'node_modules/**',
    'internals/**',
    'scripts/**',
    'test/**',
    'api-reference/**',
    'benchmarks/**',
    'timelines/**',
    '.generated/**',
  ],
  sitemap: { hostname: SITE },
  head: [['link', { rel: 'icon', type: 'image/svg+xml', href: `${BASE}play/favicon.svg` }]],
  markdown: {
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    anchor: { slugify },
    config: rewriteLinks,
  },
  transformPageData: ({ relativePath, frontmatter }) => ({
    frontmatter: { ...frontmatter, ...layoutOf(relativePath) },
  }),
  buildEnd: writePlainMarkdown,
  themeConfig: {
    nav: [
      { text: 'Start', link: '/overview', activeMatch: '^/(overview|comparison|express|fastify|hono|other-hosts)' },
      { text: 'Guides', link: '/login' },
      { text: 'Reference', link: '/options' },
      { text: 'API', link: '/api/' },
      { text: 'Playground', link: '/playground' },
      { text: `v${VERSION}`, link: '/changelog' },
    ],
    sidebar: createSidebar(),
    outline: { level: [2, 3] },
    search: { provider: 'local' },
    socialLinks: [{ icon: 'github', link: REPOSITORY }],
    editLink: { pattern: `${REPOSITORY}/edit/main/docs/:path`, text: 'Edit this page' },
    footer: { message: 'Released under the MIT License.' },
  },
});

/** What differs from the layout of a usual page. The pages themselves stay plain Markdown. */
function layoutOf(page: string): object {
  if (page === 'index.md') return { pageClass: 'home', aside: false };
  if (page === 'playground.md') return { aside: false };
  // TypeDoc writes these pages, so there is nothing to edit.
  return page.startsWith('api/') ? { editLink: false } : {};
}

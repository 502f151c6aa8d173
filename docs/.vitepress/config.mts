import { defineConfig } from 'vitepress';
import { slugify } from '../api-reference/anchors.mjs';
import { addInstallCommands } from './install-commands.mts';
import { rewriteLinks } from './links.mts';
import { addPlaygroundAddresses, createHead, describe, writePictureOf } from './metadata.mts';
import { writePlainMarkdown } from './plain-markdown.mts';
import { writeRedirects } from './redirects.mts';
import { search } from './search.mts';
import { createSidebar } from './sidebar.mts';
import { BASE, OTHER_FOLDERS, REPOSITORY, SITE, VERSION_LABEL } from './site.mts';
import { addTabs } from './tabs.mts';
import { patchTheme } from './theme-patches.mts';

export default defineConfig({
  title: 'Rollgate',
  description: 'An exact rate limiter for Node, Bun, Deno and Workers: 10 per minute means 10, in memory and in Redis',
  lang: 'en-US',
  base: BASE,
  cleanUrls: true,
  lastUpdated: true,
  ignoreDeadLinks: false,
  srcExclude: OTHER_FOLDERS.map((folder) => `${folder}/**`),
  sitemap: { hostname: SITE },
  // The menu alone links to every page, so a page would load two hundred kilobytes of others.
  router: { prefetchLinks: false },
  head: [
    ['link', { rel: 'icon', type: 'image/svg+xml', href: `${BASE}play/favicon.svg` }],
    // The first paint waits until the header is complete. Otherwise, its menu moves while the rest arrives.
    ['link', { rel: 'expect', href: '#VPContent', blocking: 'render' }],
  ],
  markdown: {
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    anchor: { slugify },
    config: (markdown) => {
      rewriteLinks(markdown);
      addTabs(markdown);
      addInstallCommands(markdown);
    },
  },
  transformPageData: (page) => ({
    ...describe(page),
    frontmatter: { ...page.frontmatter, ...layoutOf(page.relativePath) },
    ...(hasSidebar(page.relativePath) ? {} : { lastUpdated: undefined }),
  }),
  transformHead: (context) => {
    writePictureOf(context);
    return createHead(context);
  },
  buildEnd: (site) => {
    writePlainMarkdown(site);
    addPlaygroundAddresses(site);
    writeRedirects(site);
  },
  vite: { plugins: [patchTheme()] },
  themeConfig: {
    logo: { src: '/play/favicon.svg', alt: '', width: 24, height: 24 },
    nav: [
      {
        text: 'Start',
        link: '/overview',
        activeMatch: '^/(overview|comparison|express|fastify|hono|koa|nestjs|node)',
      },
      { text: 'Guides', link: '/common-tasks' },
      { text: 'Reference', link: '/options' },
      { text: 'API', link: '/api/' },
      { text: 'Playground', link: '/playground' },
      { text: VERSION_LABEL, link: '/stability#changelog' },
    ],
    sidebar: createSidebar(),
    outline: { level: [2, 3] },
    search: { provider: 'local', options: search },
    socialLinks: [{ icon: 'github', link: REPOSITORY }],
    editLink: { pattern: `${REPOSITORY}/edit/main/docs/:path`, text: 'Edit this page' },
    footer: {
      message: [
        `<a href="${REPOSITORY}">GitHub</a>`,
        '<a href="https://www.npmjs.com/org/rollgate">npm</a>',
        `<a href="${BASE}stability#changelog">Changelog</a>`,
        `<a href="${REPOSITORY}/blob/main/SECURITY.md">Security</a>`,
        `<a href="${BASE}comparison">Comparison</a>`,
      ].join(' · '),
      copyright: 'Released under the MIT License.',
    },
  },
});

const hasSidebar = (page: string): boolean => page !== 'index.md' && page !== 'playground.md';

/** What differs from the layout of a usual page. The pages themselves stay plain Markdown. */
function layoutOf(page: string): object {
  if (!hasSidebar(page)) {
    const pageClass = page === 'index.md' ? 'home' : 'wide';
    return { pageClass, sidebar: false, aside: false, outline: false, prev: false, next: false, editLink: false };
  }
  // TypeDoc writes these pages, so there is nothing to edit.
  return page.startsWith('api/') ? { editLink: false } : {};
}

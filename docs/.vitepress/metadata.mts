import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { HeadConfig, PageData, SiteConfig, TransformContext } from 'vitepress';
import { describePage, packageOfSymbol } from './descriptions.mts';
import { SITE } from './site.mts';
import { createPlaceOf, HEIGHT, pictureOf, WIDTH, writePicture } from './social-pictures.mts';
import { TITLES } from './titles.mts';

const HOME_TITLE = 'Rollgate: an exact rate limiter for Node, Bun, Deno and Workers';

/** The title and the description of a page, for search engines. */
export function describe(page: Pick<PageData, 'relativePath' | 'title'>): Partial<PageData> {
  const description = describePage(page.relativePath);
  const owner = packageOfSymbol(page.relativePath);
  if (owner !== undefined) return { description, title: `${page.title} of ${owner}` };
  if (page.relativePath === 'index.md') return { description, title: HOME_TITLE, titleTemplate: false };
  return { description, title: TITLES[page.relativePath.replace(/\.md$/, '')] ?? page.title };
}

/** The tags for search engines, and for other sites that show a link to the page. */
export function createHead({ page, pageData, title, description }: TransformContext): HeadConfig[] {
  if (page === '404.md') return [];
  const address = addressOf(page);
  const property = (name: string, content: string): HeadConfig => ['meta', { property: `og:${name}`, content }];
  return [
    ['link', { rel: 'canonical', href: address }],
    property('type', 'website'),
    property('site_name', 'Rollgate'),
    property('url', address),
    property('title', pageData.title || title),
    property('description', description),
    property('image', `${SITE}${pictureOf(page)}`),
    property('image:width', String(WIDTH)),
    property('image:height', String(HEIGHT)),
    property('image:alt', pageData.title || title),
    ['meta', { name: 'twitter:card', content: 'summary_large_image' }],
  ];
}

/** Writes the picture that other sites show for a link to the page. For the playground, it shows that page itself. */
export function writePictureOf({ page, pageData, siteConfig: { srcDir, outDir } }: TransformContext): void {
  if (page === '404.md') return;
  if (page === 'playground.md') {
    copyFileSync(join(srcDir, 'public/play/preview.png'), createPlaceOf(outDir, page));
    return;
  }
  const [, headline] = /^# (.+)$/m.exec(readFileSync(join(srcDir, page), 'utf8')) ?? [];
  writePicture(outDir, page, page === 'index.md' ? headline! : pageData.title);
}

/** Adds the addresses to the playground's own page, which does not know where it will be. */
export function addPlaygroundAddresses({ outDir }: SiteConfig): void {
  const file = join(outDir, 'play/index.html');
  const html = readFileSync(file, 'utf8')
    .replace('content="preview.png"', `content="${SITE}play/preview.png"`)
    .replace('</head>', `  <link rel="canonical" href="${addressOf('playground.md')}" />\n  </head>`);
  writeFileSync(file, html);
}

/** The published address of a page. */
function addressOf(page: string): string {
  return `${SITE}${page.replace(/(?:(^|\/)index)?\.md$/, '$1')}`;
}

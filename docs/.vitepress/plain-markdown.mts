import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { SiteConfig } from 'vitepress';
import { describePage } from './descriptions.mts';
import { repositoryAddress } from './links.mts';
import { createSidebar, type Entry, pagesOf } from './sidebar.mts';
import { SITE } from './site.mts';

/** Writes each page as plain Markdown next to its HTML, and `llms.txt`, which lists all of them. */
export function writePlainMarkdown({ srcDir, outDir, pages }: SiteConfig): void {
  for (const page of pages) {
    const file = join(outDir, page);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, publishedText(srcDir, page));
  }
  cpSync(join(srcDir, 'images'), join(outDir, 'images'), { recursive: true }); // The pages link to them by these names.
  writeFileSync(join(outDir, 'llms.txt'), listOfPages(srcDir));
}

/** A page for readers without the site: links to the repository's files lead to GitHub. */
function publishedText(srcDir: string, page: string): string {
  return plainText(join(srcDir, page)).replace(/\]\(([^)\s]+)\)/g, (link, target: string) => {
    const address = repositoryAddress(page, target);
    return address === undefined ? link : `](${address})`;
  });
}

/** The text of a page with the files that it includes, and without tags of components. */
function plainText(file: string): string {
  const text = readFileSync(file, 'utf8').replace(/^---\n[\s\S]*?\n---\n+/, '');
  return text
    .replace(/^<!--\s*@include:\s*(\S+)\s*-->$/gm, (_, included: string) => {
      const path = join(dirname(file), included);
      return existsSync(path) ? plainText(path) : '';
    })
    .replace(/^<div class="charts">.*\n*/gm, '')
    .replace(/^<[A-Z]\w*[^>]*\/>$\n?/gm, '');
}

function listOfPages(srcDir: string): string {
  const lines = createSidebar().flatMap((entry) => [`## ${entry.text}`, '', ...pagesOf([entry]).map(lineOf), '']);
  const [, purpose = ''] = /^# .+\n+([\s\S]+?)\n\n/m.exec(readFileSync(join(srcDir, 'index.md'), 'utf8')) ?? [];
  return ['# Rollgate', '', `> ${purpose.replaceAll('\n', ' ')}`, '', ...lines].join('\n');
}

function lineOf({ text, link = '' }: Entry): string {
  const page = `${link.slice(1)}${link.endsWith('/') ? 'index' : ''}.md`;
  return `- [${text}](${SITE}${page}): ${describePage(page)}`;
}

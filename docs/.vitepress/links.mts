import { existsSync, statSync } from 'node:fs';
import { posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { MarkdownRenderer } from 'vitepress';
import { OTHER_FOLDERS, REPOSITORY, SITE } from './site.mts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/**
 * The address of a link from a page to a file that is only in the repository; `undefined` for any other link.
 *
 * @throws Error if the file does not exist.
 */
export function repositoryAddress(page: string, target: string): string | undefined {
  if (/^(?:[a-z]+:|#|\/)/.test(target)) return undefined;
  const [path = '', anchor] = target.split('#');
  const file = posix.join('docs', posix.dirname(page), path);
  if (isOnSite(file)) return undefined;
  if (!existsSync(ROOT + file)) throw new Error(`${page} links to ${target}, which does not exist`);
  const kind = statSync(ROOT + file).isDirectory() ? 'tree' : 'blob';
  return `${REPOSITORY}/${kind}/main/${file}${anchor === undefined ? '' : `#${anchor}`}`;
}

const isOnSite = (file: string): boolean =>
  file.startsWith('docs/') && !OTHER_FOLDERS.some((folder) => file.startsWith(`docs/${folder}/`));

/** Makes links to files that are not on the site lead to the repository, and links to the published site to its pages. */
export function rewriteLinks(markdown: MarkdownRenderer): void {
  markdown.core.ruler.push('rewrite-links', ({ tokens, env }) => {
    for (const link of tokens.flatMap(({ children }) => children ?? []).filter(({ type }) => type === 'link_open')) {
      const target = link.attrGet('href') ?? '';
      const address = target.startsWith(SITE)
        ? target.slice(SITE.length - 1)
        : repositoryAddress(env.relativePath, target);
      if (address !== undefined) link.attrSet('href', address);
    }
  });
}

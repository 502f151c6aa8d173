import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SiteConfig } from 'vitepress';
import { BASE, SITE } from './site.mts';

/** By old address, the one where its content is now. */
const REDIRECTS: Readonly<Record<string, string>> = JSON.parse(
  readFileSync(new URL('redirects.json', import.meta.url), 'utf8'),
);

/** Writes a page at each old address that leads to the new one. A heading of an old link wins over that of the redirect. */
export function writeRedirects({ outDir }: SiteConfig): void {
  for (const [from, to] of Object.entries(REDIRECTS)) {
    const [page = '', heading = ''] = to.split('#');
    const hash = heading === '' ? '' : `#${heading}`;
    writeFileSync(
      join(outDir, `${from}.html`),
      `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Moved</title>
<meta name="robots" content="noindex">
<link rel="canonical" href="${SITE}${page}">
<script>location.replace('${BASE}${page}' + (location.hash || '${hash}'))</script>
<meta http-equiv="refresh" content="1; url=${BASE}${to}">
<p>This page has moved to <a href="${BASE}${to}">another address</a>.</p>
</html>
`,
    );
  }
}

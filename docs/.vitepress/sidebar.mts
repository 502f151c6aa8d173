import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ENTRY_POINTS } from '../api-reference/entry-points.mjs';

/** An entry of the sidebar: a page, or a group of pages. */
export interface Entry {
  text: string;
  link?: string;
  collapsed?: boolean;
  items?: Entry[];
}

const PAGES = fileURLToPath(new URL('..', import.meta.url));

/** The groups of the sidebar, of which that of the page is open. `npm run docs:test` verifies that they contain every page. */
export function createSidebar(): Entry[] {
  return [
    group('Start', [
      'overview',
      'express',
      'fastify',
      'hono',
      'koa',
      'nestjs',
      'recipes/nextjs',
      'node',
      'recipes/cloudflare-workers',
      'comparison',
    ]),
    group('Guides', [
      'common-tasks',
      'behind-a-proxy',
      'login',
      'plans-and-tenants',
      'quotas',
      'blocks',
      'concurrency',
      'queues',
      'websockets',
      'calling-apis',
      'reported-quota',
      'testing',
      'troubleshooting',
    ]),
    group('Concepts', ['decisions', 'algorithms', 'keys', 'headers']),
    group('Stores', ['redis', 'postgres', 'sqlite', 'store-failures']),
    group('Operations', ['deploy', 'observe', 'operating', 'hot-key']),
    {
      text: 'Reference',
      collapsed: true,
      items: [
        ...pages(['options', 'errors', 'cli', 'guarantees', 'stability', 'calls-in-detail']),
        { text: 'API', link: '/api/', collapsed: true, items: apiPages() },
        ...pages(['extending']),
      ],
    },
    group('Migration', [
      'migrating-from-express-rate-limit',
      'migrating-from-fastify-rate-limit',
      'migrating-from-rate-limiter-flexible',
    ]),
    group('Recipes', recipes()),
    group('Playground', ['playground']),
  ];
}

/** All pages of these entries, in order. */
export function pagesOf(entries: readonly Entry[]): Entry[] {
  return entries.flatMap((entry) => [...(entry.link === undefined ? [] : [entry]), ...pagesOf(entry.items ?? [])]);
}

function group(text: string, names: readonly string[]): Entry {
  return { text, collapsed: true, items: pages(names) };
}

/** The pages that exist among the given ones, by their first heading. */
function pages(names: readonly string[]): Entry[] {
  return names.filter((name) => existsSync(join(PAGES, `${name}.md`))).map(page);
}

function page(name: string): Entry {
  const [, heading] = /^# (.+)$/m.exec(readFileSync(join(PAGES, `${name}.md`), 'utf8')) ?? [];
  if (heading === undefined) throw new Error(`Expected a first heading in docs/${name}.md`);
  return { text: heading.replaceAll('`', ''), link: `/${name}` };
}

/** The recipes that are not a way to start, in alphabetical order. */
function recipes(): string[] {
  const names = readdirSync(join(PAGES, 'recipes')).map((file) => `recipes/${file.slice(0, -'.md'.length)}`);
  return names.filter((name) => !['recipes/nextjs', 'recipes/cloudflare-workers'].includes(name)).sort();
}

/** One page for each entry point of the published packages, which TypeDoc has written. */
function apiPages(): Entry[] {
  return ENTRY_POINTS.map(({ name }) => ({ text: name, link: `/api/${name}${isFolder(name) ? '/' : ''}` }));
}

/** TypeDoc writes a folder for an entry point with namespaces. */
function isFolder(name: string): boolean {
  return existsSync(join(PAGES, 'api', name, 'index.md'));
}

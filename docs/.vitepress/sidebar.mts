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

/** The groups of the sidebar. `npm run docs:test` verifies that they contain every page. */
export function createSidebar(): Entry[] {
  return [
    group('Start', [
      'overview',
      'comparison',
      'express',
      'fastify',
      'hono',
      'nestjs',
      'other-hosts',
      'plain-code',
      'redis',
      'postgres',
      'sqlite',
    ]),
    group('Concepts', ['decisions', 'algorithms', 'keys', 'headers', 'store-failures']),
    group('Guides', [
      'login',
      'blocks',
      'plans-and-tenants',
      'queues',
      'calling-apis',
      'costs-known-later',
      'budgets-and-quotas',
      'concurrency',
      'outgoing',
      'websockets',
      'jobs-and-notifications',
      'testing',
      'going-live',
      'metrics',
      'operating',
      'redis-in-production',
      'hot-key',
      'writing-a-store',
      'adding-a-host',
    ]),
    ...recipes(),
    {
      text: 'Reference',
      items: [
        ...pages(['options', 'errors', 'warnings', 'events', 'cli', 'guarantees', 'stability', 'benchmarks']),
        { text: 'API', link: '/api/', collapsed: true, items: apiPages() },
        {
          text: 'Migration',
          items: pages([
            'migrating-from-express-rate-limit',
            'migrating-from-fastify-rate-limit',
            'migrating-from-rolling-rate-limiter',
            'migrating-from-rate-limiter-flexible',
          ]),
        },
        ...pages(['changelog']),
      ],
    },
    group('Playground', ['playground']),
  ];
}

/** All pages of these entries, in order. */
export function pagesOf(entries: readonly Entry[]): Entry[] {
  return entries.flatMap((entry) => [...(entry.link === undefined ? [] : [entry]), ...pagesOf(entry.items ?? [])]);
}

function group(text: string, names: readonly string[]): Entry {
  return { text, items: pages(names) };
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

/** Every file in `docs/recipes`, in alphabetical order. */
function recipes(): Entry[] {
  const folder = join(PAGES, 'recipes');
  if (!existsSync(folder)) return [];
  const files = readdirSync(folder).filter((file) => file.endsWith('.md'));
  return [
    group(
      'Recipes',
      files.sort().map((file) => `recipes/${file.slice(0, -'.md'.length)}`),
    ),
  ];
}

/** One page for each entry point of the published packages, which TypeDoc has written. */
function apiPages(): Entry[] {
  return ENTRY_POINTS.map(({ name }) => ({ text: name, link: `/api/${name}${isFolder(name) ? '/' : ''}` }));
}

/** TypeDoc writes a folder for an entry point with namespaces. */
function isFolder(name: string): boolean {
  return existsSync(join(PAGES, 'api', name, 'index.md'));
}

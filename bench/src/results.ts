import { readFileSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { renderComparison } from './comparison/page.js';
import { renderCosts, renderLogSizes } from './costs.js';
import { renderFairWait } from './fair-wait/page.js';
import { renderHome } from './home.js';
import type { Machine } from './machine.js';
import { renderOutgoing } from './outgoing/page.js';
import { type ReadResults, type Results, renderReadme, renderSummary } from './readme.js';
import type { Report } from './table.js';

const FOLDER = new URL('../results/', import.meta.url);
const ROOT = new URL('../../', import.meta.url);

/** The pages with generated parts. Each function returns the page with these parts. */
const PAGES: Readonly<Record<string, (page: string, read: ReadResults) => string>> = {
  'bench/README.md': renderReadme,
  'docs/algorithms.md': renderCosts,
  'docs/calls-in-detail.md': renderOutgoing,
  'docs/comparison.md': (page, read) => renderSummary(renderComparison(page, read), read),
  'docs/index.md': renderHome,
  'docs/internals/fair-waiting.md': renderFairWait,
  'docs/redis.md': renderLogSizes,
};

/** Writes a part's results to `results/<part>.json`, for the documentation. */
export async function saveResults(part: string, machine: Machine, report: Report): Promise<void> {
  const results: Results = { part, machine, ...report };
  await mkdir(FOLDER, { recursive: true });
  await writeFile(new URL(`${part}.json`, FOLDER), `${JSON.stringify(results, undefined, 2)}\n`);
}

export function readResults(part: string): Results {
  return JSON.parse(readFileSync(new URL(`${part}.json`, FOLDER), 'utf8'));
}

/** Writes the generated parts of the pages from the result files. Returns the pages that have changed. */
export async function updatePages(): Promise<string[]> {
  const changed: string[] = [];
  for (const [path, render] of Object.entries(PAGES)) {
    const file = new URL(path, ROOT);
    const page = await readFile(file, 'utf8');
    const updated = render(page, readResults);
    if (updated === page) continue;
    await writeFile(file, updated);
    changed.push(path);
  }
  return changed;
}

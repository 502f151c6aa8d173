import { readFileSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import type { Machine } from './machine.js';
import { type Results, renderReadme } from './readme.js';
import type { Report } from './table.js';

const FOLDER = new URL('../results/', import.meta.url);
const README = new URL('../README.md', import.meta.url);

/** Writes a part's results to `results/<part>.json`, for the documentation. */
export async function saveResults(part: string, machine: Machine, report: Report): Promise<void> {
  const results: Results = { part, machine, ...report };
  await mkdir(FOLDER, { recursive: true });
  await writeFile(new URL(`${part}.json`, FOLDER), `${JSON.stringify(results, undefined, 2)}\n`);
}

function readResults(part: string): Results {
  return JSON.parse(readFileSync(new URL(`${part}.json`, FOLDER), 'utf8'));
}

/** Writes the summary and the table of `README.md` from the result files. Returns whether they have changed. */
export async function updateReadme(): Promise<boolean> {
  const readme = await readFile(README, 'utf8');
  const updated = renderReadme(readme, readResults);
  await writeFile(README, updated);
  return updated !== readme;
}

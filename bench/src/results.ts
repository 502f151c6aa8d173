import { readFileSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import type { Machine } from './machine.js';
import { replaceSummary, summarize } from './summary.js';
import type { Report } from './table.js';

const FOLDER = new URL('../results/', import.meta.url);
const README = new URL('../README.md', import.meta.url);

/** Writes a part's results to `results/<part>.json`, for the documentation. */
export async function saveResults(part: string, machine: Machine, report: Report): Promise<void> {
  await mkdir(FOLDER, { recursive: true });
  await writeFile(new URL(`${part}.json`, FOLDER), `${JSON.stringify({ part, machine, ...report }, undefined, 2)}\n`);
}

function readResults(part: string): Report {
  return JSON.parse(readFileSync(new URL(`${part}.json`, FOLDER), 'utf8'));
}

/** Writes the summary of all result files into `README.md`. */
export async function saveSummary(): Promise<void> {
  const readme = await readFile(README, 'utf8');
  await writeFile(README, replaceSummary(readme, summarize(readResults)));
}

import { mkdir, writeFile } from 'node:fs/promises';
import type { Machine } from './machine.js';
import type { Report } from './table.js';

const FOLDER = new URL('../results/', import.meta.url);

/** Writes a part's results to `results/<part>.json`, for the documentation. */
export async function saveResults(part: string, machine: Machine, report: Report): Promise<void> {
  await mkdir(FOLDER, { recursive: true });
  await writeFile(new URL(`${part}.json`, FOLDER), `${JSON.stringify({ part, machine, ...report }, undefined, 2)}\n`);
}

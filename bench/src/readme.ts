import { describeRun, type Machine } from './machine.js';
import { replaceSection } from './page-sections.js';
import { summarize } from './summary.js';
import { type Report, renderTable } from './table.js';

/** A part's result file. */
export interface Results extends Report {
  readonly part: string;
  readonly machine: Machine;
}

export type ReadResults = (part: string) => Results;

/** Returns `README.md` with the summary, and with the tables that no other page shows. */
export function renderReadme(readme: string, read: ReadResults): string {
  const withSummary = renderSummary(readme, read);
  const parts = ['postgres', 'sqlite', 'algorithms'];
  return parts.reduce((page, part) => replaceSection(page, part, renderPart(read(part))), withSummary);
}

export function renderSummary(page: string, read: ReadResults): string {
  return replaceSection(page, 'summary', summarize(read));
}

const renderPart = (results: Results) => `${renderTable(results)}\n\n${describeRun(results.machine)}`;

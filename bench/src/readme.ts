import type { Machine } from './machine.js';
import { summarize } from './summary.js';
import { type Report, renderTable } from './table.js';

/** A part's result file. */
export interface Results extends Report {
  readonly part: string;
  readonly machine: Machine;
}

/** Returns `README.md` with the summary, and with the tables that no other page shows. */
export function renderReadme(readme: string, read: (part: string) => Results): string {
  const withSummary = replaceMarked(readme, 'summary', summarize(read));
  const parts = ['fast-ways', 'algorithms'];
  return parts.reduce((page, part) => replaceMarked(page, part, renderPart(read(part))), withSummary);
}

function renderPart({ machine: { date, node, cpu, cores }, ...report }: Results): string {
  return `${renderTable(report)}\n\nThe run took place on ${date}, with Node ${node} on ${cpu} with ${cores} cores.`;
}

/** Replaces what is between the comments `<!-- name -->` and `<!-- end of name -->`. */
function replaceMarked(page: string, name: string, text: string): string {
  const [start, end] = [`<!-- ${name} -->\n\n`, `\n\n<!-- end of ${name} -->`];
  const [from, to] = [page.indexOf(start), page.indexOf(end)];
  if (from < 0 || to < 0) throw new Error(`Expected \`<!-- ${name} -->\` and \`<!-- end of ${name} -->\` on the page`);
  return page.slice(0, from + start.length) + text + page.slice(to);
}

import { markdownTable } from 'markdown-table';
import { figureOf, tenths } from '../format.js';
import { describeRun } from '../machine.js';
import { REJECTED, SCENARIOS, USED } from '../outgoing.js';
import { replaceSection } from '../page-sections.js';
import type { ReadResults, Results } from '../readme.js';

/** Shown instead of a cell if the library is made for another API. */
const NO_CELL = '–';

/** Returns `docs/calls-in-detail.md` with the comparison of libraries. */
export function renderOutgoing(page: string, read: ReadResults): string {
  const results = read('outgoing');
  const titles = Object.keys(SCENARIOS);
  const rows = Object.entries(results.headers).map(([library, header]) => [
    header,
    ...titles.map((title) => renderCell(results, title, library)),
  ]);
  const columns = ['library (% rejected / % used)', ...titles];
  const table = markdownTable([columns, ...rows], { align: ['l', ...titles.map(() => 'r')] });
  const run = `- ${describeRun(results.machine)}`;
  return replaceSection(page, 'outgoing', [table, [...results.method, run].join('\n')].join('\n\n'));
}

function renderCell(results: Results, title: string, library: string): string {
  const isMeasured = results.rows.some(
    ({ what, cells }) => what === `${title}: ${USED}` && cells[library] !== undefined,
  );
  if (!isMeasured) return NO_CELL;
  const [rejected, used] = [REJECTED, USED].map((what) => tenths(figureOf(results, `${title}: ${what}`, library)));
  return `${rejected} / ${used}`;
}

import { markdownTable } from 'markdown-table';
import { FIGURES } from '../fair-wait.js';
import { describeRun } from '../machine.js';
import { replaceSection } from '../page-sections.js';
import type { ReadResults } from '../readme.js';
import type { Scenario } from './load.js';
import type { Outcome } from './trial.js';

/** The rows of the page, which shows not all figures. */
const SHOWN: readonly (readonly [figure: keyof Outcome, scenario: Scenario])[] = [
  ['invertedPercent', 'a burst'],
  ['invertedInRedisPercent', 'a burst'],
  ['invertedInRedisPercent', 'two limits'],
  ['invertedInRedisPercent', 'three limits'],
  ['invertedPercent', 'a third refunded'],
  ['invertedPercent', 'one of 8 killed'],
  ['invertedPercent', 'one of 8 stopped for 600 ms'],
  ['scriptsPerStart', 'a burst'],
  ['scriptsPerStart', 'a third refunded'],
  ['scriptsPerStart', 'a token bucket'],
  ['scriptsPerStart', 'two limits'],
  ['scriptsPerStart', 'three limits'],
  ['usedPercent', 'a burst'],
  ['usedPercent', 'a token bucket'],
  ['usedPercent', 'two limits'],
  ['usedPercent', 'three limits'],
  ['mostWithin', 'a burst'],
  ['mostWithin', 'one of 8 stopped for 600 ms'],
];

/** Returns `docs/internals/fair-waiting.md` with the figures of callers in several processes. */
export function renderFairWait(page: string, read: ReadResults): string {
  const { headers, rows, method, machine } = read('fair-wait');
  const libraries = Object.keys(headers);
  const lines = SHOWN.flatMap(([figure, scenario]) => {
    const row = rows.find(({ what }) => what === `${scenario}: ${FIGURES[figure].title}`);
    if (row === undefined) return []; // A run from before the scenario.
    const texts = libraries.map((library) => {
      const cell = row.cells[library];
      return typeof cell === 'object' ? cell.text : '–';
    });
    return [[`${FIGURES[figure].title}, ${scenario}`, ...texts]];
  });
  const header = ['measured', ...libraries.map((library) => headers[library]!)];
  const table = markdownTable([header, ...lines], { align: ['l', ...libraries.map(() => 'r')] });
  const run = `- ${describeRun(machine)}`;
  return replaceSection(page, 'fair-wait', [table, [...method, run].join('\n')].join('\n\n'));
}

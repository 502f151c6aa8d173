import { markdownTable } from 'markdown-table';
import { describeRun } from '../machine.js';
import { replaceSection } from '../page-sections.js';
import type { ReadResults, Results } from '../readme.js';
import type { Cell } from '../table.js';
import { FACT_TITLES, FACTS, type Facts } from './facts.js';
import { LIBRARY_NAMES, type LibraryName } from './libraries/index.js';
import { PROBES, type ProbeName, TOPICS } from './probes/index.js';
import { commandOf } from './run.js';

/** Shown instead of a cell if the library has not got what the probe needs. */
const NO_CELL = '–';

/** Returns `docs/comparison.md` with its generated parts. */
export function renderComparison(page: string, read: ReadResults): string {
  const results = read('comparison');
  const topics = Object.entries(TOPICS).map(([topic, probes]) =>
    renderTopic(topic, Object.keys(probes) as ProbeName[], results),
  );
  let updated = replaceSection(page, 'overview', renderOverview(results));
  updated = replaceSection(updated, 'tables', topics.join('\n\n'));
  updated = replaceSection(updated, 'facts', renderFacts());
  return replaceSection(updated, 'versions', renderVersions(results));
}

/** What the first table shows of a probe: a short title, the right result, and a short text of a result. */
const OVERVIEW: Partial<Record<ProbeName, { title: string; isRight: RegExp; toShort?: (text: string) => string }>> = {
  'most-in-window': { title: 'in a window', isRight: /^10$/ },
  'requests-at-once': { title: 'at once', isRight: /^5$/ },
  'persistent-client': { title: 'retrying', isRight: /^100$/ },
  'two-limits': { title: 'two limits', isRight: /^10$/ },
  'redis-stopped': {
    title: 'Redis stops',
    isRight: /^still limited/,
    toShort: (text) => text.split(/,| in /)[0]!.replace('still ', ''),
  },
};

/** The libraries of the first table, which fits on a screen. */
const IN_OVERVIEW = LIBRARY_NAMES.filter((name) => !['sliding-window-rate-limiter', 'limiter'].includes(name));

function renderOverview(results: Results): string {
  const columns = Object.entries(OVERVIEW) as [ProbeName, NonNullable<(typeof OVERVIEW)[ProbeName]>][];
  const cell = (library: LibraryName, [probe, { isRight, toShort = String }]: (typeof columns)[number]) => {
    const result = cellOf(results, probe, library);
    if (result === undefined) return NO_CELL;
    const text = String(typeof result === 'object' ? result.text : result);
    return isRight.test(text)
      ? `<span class="right">${toShort(text)} ✓</span>`
      : `<span class="wrong">${toShort(text)} ✗</span>`;
  };
  return markdownTable([
    ['library', ...columns.map(([, { title }]) => title)],
    ...IN_OVERVIEW.map((library) => [
      library === 'rollgate' ? '**Rollgate**' : library,
      ...columns.map((column) => cell(library, column)),
    ]),
  ]);
}

function renderTopic(topic: string, probes: readonly ProbeName[], results: Results): string {
  const libraries = LIBRARY_NAMES.filter((library) =>
    probes.some((probe) => cellOf(results, probe, library) !== undefined),
  );
  const methods = probes.map((probe) => {
    const { title, method } = PROBES[probe];
    return `- **${title}**: \`${commandOf(probe)}\`. ${method}`;
  });
  return [`## ${topic}`, renderTable(libraries, probes, results), methods.join('\n')].join('\n\n');
}

/** A row for each library, and a column for each probe. */
function renderTable(libraries: readonly LibraryName[], probes: readonly ProbeName[], results: Results): string {
  const textOf = (cell: Cell | undefined) => (typeof cell === 'object' ? cell.text : (cell ?? NO_CELL));
  return markdownTable([
    ['library', ...probes.map((probe) => PROBES[probe].title)],
    ...libraries.map((library) => [
      toTitle(library),
      ...probes.map((probe) => textOf(cellOf(results, probe, library))),
    ]),
  ]);
}

function cellOf({ rows }: Results, probe: ProbeName, library: LibraryName): Cell | undefined {
  const row = rows.find(({ what }) => what === probe);
  if (row === undefined) throw new Error(`Expected results of ${probe}. Run \`npm run compare\``);
  return row.cells[library];
}

function renderFacts(): string {
  const columns = Object.keys(FACT_TITLES) as (keyof Facts)[];
  return markdownTable([
    ['library', ...columns.map((column) => FACT_TITLES[column])],
    ...LIBRARY_NAMES.map((library) => [toTitle(library), ...columns.map((column) => FACTS[library][column])]),
  ]);
}

function renderVersions({ machine, headers, method }: Results): string {
  return [`- ${describeRun(machine)}`, ...method, ...LIBRARY_NAMES.map((library) => `- ${headers[library]}`)].join(
    '\n',
  );
}

function toTitle(library: LibraryName): string {
  return library === 'rollgate' ? 'Rollgate' : library;
}

// Runs every cell of the comparison, or those of the probes and libraries on the command line.
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { markdownTable } from 'markdown-table';
import { describeMachine, machineLines } from '../machine.js';
import { saveResults, updatePages } from '../results.js';
import type { Cell, Row } from '../table.js';
import { LIBRARY_NAMES, type LibraryName } from './libraries/index.js';
import { PROBE_NAMES, PROBES, type ProbeName } from './probes/index.js';
import { commandOf, runCell, runTogether } from './run.js';
import { describeRedis, libraryHeaders } from './versions.js';

const { positionals } = parseArgs({ allowPositionals: true });
const unknown = positionals.find((name) => !isProbe(name) && !isLibrary(name));
if (unknown !== undefined) {
  const known = [...PROBE_NAMES, ...LIBRARY_NAMES].join(', ');
  throw new Error(`Expected a probe or a library, which are ${known}, got ${unknown}`);
}
const probes = PROBE_NAMES.filter(orAll(positionals.filter(isProbe)));
const libraries = LIBRARY_NAMES.filter(orAll(positionals.filter(isLibrary)));

const machine = describeMachine();
const tasks = probes.flatMap((probe) => libraries.map((library) => ({ probe, library })));
let done = 0;
const cells = await runTogether(
  tasks.map((task) => async () => {
    const cell = await runCell(task);
    done += 1;
    process.stderr.write(`${done} of ${tasks.length}: ${task.probe}, ${task.library}\n`); // Standard output gets the tables.
    return cell;
  }),
  availableParallelism() + 2, // Some cells only wait.
);

const rows = probes.map((probe, index): Row<LibraryName> => {
  const own = cells.slice(index * libraries.length, (index + 1) * libraries.length);
  return { what: probe, cells: Object.fromEntries(libraries.map((library, column) => [library, own[column]])) };
});
const redis = await describeRedis();
console.log([...machineLines(machine), redis, ''].join('\n'));
for (const row of rows) console.log(`${describeRow(row)}\n`);

if (positionals.length === 0) {
  await saveResults('comparison', machine, { headers: libraryHeaders(), rows, method: [redis] });
  await updatePages();
}

/** The cells of a probe, each with the command that produced it. */
function describeRow({ what, cells }: Row<LibraryName>): string {
  const { title, method } = PROBES[what as ProbeName];
  const lines = libraries.map((library) => [library, textOf(cells[library]), commandOf(what, library)]);
  return `## ${title}\n\n${method}\n\n${markdownTable([['library', 'result', 'command'], ...lines])}`;
}

function textOf(cell: Cell | undefined): string {
  return typeof cell === 'object' ? cell.text : (cell ?? '');
}

function isProbe(name: string): boolean {
  return (PROBE_NAMES as string[]).includes(name);
}

function isLibrary(name: string): boolean {
  return (LIBRARY_NAMES as string[]).includes(name);
}

function orAll(names: readonly string[]): (name: string) => boolean {
  return (name) => names.length === 0 || names.includes(name);
}

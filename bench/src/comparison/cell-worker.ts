// The process of one cell. So no cell depends on the time, the timers or the failures of another.
import type { Cell } from '../table.js';
import { handleTasks } from '../worker.js';
import { type LibraryName, loadLibrary } from './libraries/index.js';
import { PROBES, type ProbeName } from './probes/index.js';

export interface CellTask {
  readonly probe: ProbeName;
  readonly library: LibraryName;
}

export interface CellResult {
  /** Missing if the library has not got what the probe needs. */
  readonly cell?: Cell | undefined;
}

// Probes provoke the warnings of libraries.
process.removeAllListeners('warning');
for (const method of ['warn', 'error'] as const) console[method] = () => {};

handleTasks<CellTask, CellResult>(async ({ probe, library }) => {
  return { cell: await PROBES[probe].run(await loadLibrary(library)) };
});

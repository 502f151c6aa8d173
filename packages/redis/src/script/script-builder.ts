import { sha1 } from '../base/platform.js';
import { luaFilesOf, QUEUES_PART, type ScriptParts, SETTLEMENTS_PART } from '../operations/algorithm-registry.js';
import { lua } from './lua.generated.js';

/** The form in which Redis keeps the hits of a key. The README states what each costs. */
export type Log = 'packed' | 'sorted-set';

export const LOGS: readonly Log[] = ['packed', 'sorted-set'];

/** The files of `lua/` that implement each log, in order. */
const LOG_FILES: Readonly<Record<Log, readonly string[]>> = {
  packed: ['hit-log-packed', 'hit-log-packed-rewrite'],
  'sorted-set': ['hit-log-sorted-set'],
};

/** The line of `lua/program/main.lua` that `lua/program/plain-window-check.lua` replaces. */
const PLAIN_WINDOW_CHECK_LINE = '-- include plain-window-check.lua\n';

/** The line of `lua/program/main.lua` that `lua/queues/unless-queued.lua` replaces. */
const UNLESS_QUEUED_LINE = '-- include unless-queued.lua\n';

/** The steps after which a script leaves its remaining operations to the next script. A step takes about a microsecond. */
export const MAX_STEPS = 4000;

/** A script, and the SHA-1 by which Redis finds it when it knows it. */
export interface Script {
  readonly text: string;
  readonly sha: string | Promise<string>;
}

/**
 * Builds the scripts of a store from the files in `lua/`, one for each set of parts that an operation needs.
 *
 * Each run of a script creates all of its functions again. So a script contains only the parts that it needs, and creates most
 * of them only when `plain-window-check.lua` does not decide an operation.
 */
export class ScriptBuilder {
  /** Whether the scripts of rolling windows have `plain-window-check.lua`. */
  readonly hasPlainWindowCheck: boolean;
  readonly #log: Log;
  /** What {@link QUEUES_PART} consists of. */
  #queuesLua: readonly string[] = [];
  #unlessQueued = '';
  readonly #scripts = new Map<ScriptParts, Script>();

  constructor(log: Log) {
    this.hasPlainWindowCheck = log === 'packed';
    this.#log = log;
  }

  /** Adds what has no other way into the scripts: the operations on queues, and what checks look for before they run. */
  addQueues(operations: readonly string[], unlessQueued = ''): void {
    this.#queuesLua = operations;
    this.#unlessQueued = unlessQueued;
  }

  get(parts: ScriptParts): Script {
    let script = this.#scripts.get(parts);
    if (script === undefined) {
      script = this.#build(parts);
      this.#scripts.set(parts, script);
    }
    return script;
  }

  #build(parts: ScriptParts): Script {
    const names = luaFilesOf(parts);
    const algorithms = names.flatMap((name) => (name === 'log' ? LOG_FILES[this.#log] : [name]));
    const settlements = parts & SETTLEMENTS_PART ? ['settlements'] : [];
    const operations = ['common', ...algorithms, 'decisions', ...settlements].map(readLua);
    const queues = parts & QUEUES_PART ? this.#queuesLua : [];
    const plainWindowCheck = this.hasPlainWindowCheck && names.includes('log') ? readLua('plain-window-check') : '';
    const text = [
      maxStepsLine(MAX_STEPS),
      'local step_count = 0 -- The steps of this script so far.',
      readLua('letters'),
      'local function load_operations()',
      ...operations,
      ...queues,
      readLua('operations'),
      'end',
      readLua('main')
        .replace(PLAIN_WINDOW_CHECK_LINE, () => plainWindowCheck)
        .replace(UNLESS_QUEUED_LINE, () => this.#unlessQueued),
    ].join('\n');
    return { text, sha: sha1(text) };
  }
}

function readLua(name: string): string {
  return lua[`${name}.lua`]!;
}

/** The first line of a script. */
export function maxStepsLine(maxSteps: number): string {
  return `local MAX_STEPS = ${maxSteps}`;
}

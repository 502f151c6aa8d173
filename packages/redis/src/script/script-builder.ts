import { getOrInsert } from '@rollgate/core/store';
import {
  algorithmsOf,
  CHANGES_PART,
  COUNTER_PART,
  luaFilesOf,
  QUEUES_PART,
  type ScriptParts,
} from '../operations/algorithm-registry.js';
import { sha1 } from '../util/platform.js';
import { lua } from './lua.generated.js';

/** The form in which Redis keeps the hits of a key. The README states what each costs. */
export type Log = 'packed' | 'sorted-set';

export const LOGS: readonly Log[] = ['packed', 'sorted-set'];

/** The files of `lua/` that implement each log, in order. */
const LOG_FILES: Readonly<Record<Log, readonly string[]>> = {
  packed: ['hit-log-packed', 'hit-log-packed-rewrite', 'hit-log'],
  'sorted-set': ['hit-log-sorted-set', 'hit-log'],
};

/** The line of `lua/limits/rolling-window.lua` that the files of the log replace. */
const LOG_LINE = '-- include log\n';

/** The files of `lua/queues` with the operations on queues, in order. */
const QUEUE_FILES = ['tickets', 'places', 'estimates', 'turns', 'ticket-operations'];

/** The lines of `lua/program/main.lua` that files of `lua/queues` replace. */
const QUEUE_LINES = /^-- include (unless-\w+)\n/gm;

/** The line of a file before what only {@link CHANGES_PART} needs. */
const END_OF_CHECKS = '-- end of what checks need\n';

/** The steps after which a script leaves its remaining operations to the next script. A step takes about a microsecond. */
export const MAX_STEPS = 4000;

/** A script, and the SHA-1 by which Redis finds it when it knows it. */
export interface Script {
  readonly text: string;
  readonly sha: string | Promise<string>;
}

/**
 * Builds the scripts of a store from the files in `lua/`, one for each set of parts that an operation needs. Each call of a script
 * creates its functions again, so a script contains only the parts that it needs.
 */
export class ScriptBuilder {
  #queuesLua: Readonly<Record<string, string>> = {};
  readonly #scripts = new Map<ScriptParts, Script>();

  constructor(private readonly log: Log) {}

  /** Adds the files of `lua/queues`: the operations on queues, and what checks look for before they run. */
  addQueues(files: Readonly<Record<string, string>>): void {
    this.#queuesLua = files;
  }

  get(parts: ScriptParts): Script {
    return this.#scripts.get(parts) ?? getOrInsert(this.#scripts, parts, () => this.#build(parts));
  }

  #build(parts: ScriptParts): Script {
    const files = luaFilesOf(parts).map((name) => readLua(name).split(END_OF_CHECKS));
    const applies = algorithmsOf(parts).map((name) => `['${name}'] = apply_${name.replaceAll('-', '_')}`);
    if (parts & QUEUES_PART) applies.push('queue = true'); // Behind the rules of a plan, `tickets.lua` has queues.
    const hasOtherKinds = parts & (CHANGES_PART | COUNTER_PART | QUEUES_PART);
    const text = [
      maxStepsLine(MAX_STEPS),
      readLua('common'),
      hasOtherKinds ? 'local kinds = {}' : '',
      ...files.map(([checks]) => checks),
      // For `read_plan` of main.lua. Most scripts do not need it.
      `local applies = #ARGV ~= 2 and { ${applies} }`,
      readLua('decide'),
      ...(parts & CHANGES_PART ? ['local changes = {}', ...files.map(([, changes = '']) => changes)] : []),
      parts & CHANGES_PART ? readLua('changes') : '',
      ...(parts & QUEUES_PART ? QUEUE_FILES.map((name) => this.#queuesLua[`${name}.lua`]) : []),
      readLua('main').replace(QUEUE_LINES, (_line, name: string) => this.#queuesLua[`${name}.lua`] ?? ''),
    ]
      .join('\n')
      .replace(LOG_LINE, () => LOG_FILES[this.log].map(readLua).join(''))
      .replace('HAS_PACKED_LOG', String(this.log === 'packed'));
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

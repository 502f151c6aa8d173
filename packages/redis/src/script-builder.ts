import { createHash } from 'node:crypto';
import { luaFilesOf, type ScriptParts } from './algorithm-registry.js';
import { lua } from './lua.generated.js';

/** The form in which Redis keeps the hits of a key. The README states what each costs. */
export type Log = 'packed' | 'sorted-set';

export const LOGS: readonly Log[] = ['packed', 'sorted-set'];

/** The steps after which a script leaves its remaining operations to the next script. A step takes about a microsecond. */
export const MAX_STEPS = 4000;

/** A script, and the SHA-1 by which Redis finds it when it knows it. */
export interface Script {
  readonly text: string;
  readonly sha: string;
}

/**
 * Builds the scripts of a store from the files in `lua/`, one for each set of parts that an operation needs.
 *
 * Each run of a script creates all of its functions again. So a script contains only the parts that it needs.
 */
export class ScriptBuilder {
  readonly #log: Log;
  readonly #scripts = new Map<ScriptParts, Script>();

  constructor(log: Log) {
    this.#log = log;
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
    const optional = luaFilesOf(parts).map((name) => (name === 'log' ? `hit-log-${this.#log}` : name));
    const files = ['common', ...optional, 'main'].map((name) => lua[`${name}.lua`]);
    const text = [maxStepsLine(MAX_STEPS), ...files].join('\n');
    return { text, sha: createHash('sha1').update(text).digest('hex') };
  }
}

/** The first line of a script. */
export function maxStepsLine(maxSteps: number): string {
  return `local MAX_STEPS = ${maxSteps}`;
}

import { createHash } from 'node:crypto';
import { filesOf, type Parts } from './algorithm-registry.js';
import { lua } from './lua.generated.js';

/** How the hits of a key are kept: see the README for what each costs. */
export type Log = 'sorted-set' | 'list';

export const LOGS: readonly Log[] = ['sorted-set', 'list'];

/** What Redis runs. */
export interface Script {
  readonly text: string;
  /** By which Redis knows a script that it has seen. */
  readonly sha: string;
}

/**
 * The scripts of a store: one for each set of parts that a call needed, made of the files as they can be read in `lua/`.
 * For each run of a script makes all its functions anew, those that nobody asks for as well.
 */
export class ScriptBuilder {
  readonly #log: Log;
  readonly #scripts = new Map<Parts, Script>();

  constructor(log: Log) {
    this.#log = log;
  }

  with(parts: Parts): Script {
    let script = this.#scripts.get(parts);
    if (script === undefined) {
      script = this.#make(parts);
      this.#scripts.set(parts, script);
    }
    return script;
  }

  #make(parts: Parts): Script {
    const files = ['common', ...filesOf(parts).map((name) => (name === 'log' ? `hit-log-${this.#log}` : name)), 'main'];
    const text = files.map((name) => lua[`${name}.lua`]).join('\n');
    return { text, sha: createHash('sha1').update(text).digest('hex') };
  }
}

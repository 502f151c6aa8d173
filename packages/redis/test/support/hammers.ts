import { ScriptProcess } from './script-process.js';

/** What a process asks again and again: limits by their names, and keys, of which it takes any each time. */
export interface Task {
  readonly prefix: string;
  readonly limits: Readonly<Record<string, { readonly limit: number; readonly window: number }>>;
  readonly keys: readonly (string | Readonly<Record<string, string>>)[];
}

/** What a process was told. */
export interface Told {
  /** How often each key of each task was allowed. */
  readonly allowed: readonly (readonly number[])[];
  /** Who was refused, and the milliseconds of this machine's clock between which. */
  readonly refusals: readonly (readonly [task: number, key: number, startMs: number, endMs: number])[];
  /** How often there was no decision. */
  readonly failed: number;
}

export interface HammerOptions {
  readonly url: string;
  readonly kind: 'ioredis' | 'node-redis';
  /** Of its connection. */
  readonly name: string;
  readonly log: 'list' | 'sorted-set';
  readonly denialCache: false | object;
  readonly tasks: readonly Task[];
}

/** A process of its own that hammers a server from now on: see `hammer.mjs`. */
export class Hammer {
  readonly #process: ScriptProcess;

  constructor(options: HammerOptions) {
    this.#process = new ScriptProcess('hammer.mjs', options);
  }

  async stop(): Promise<Told> {
    return (await this.#process.ask('stop')) as Told;
  }

  kill(): void {
    this.#process.kill();
  }
}

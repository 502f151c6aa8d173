import { ScriptProcess } from './script-process.js';

/** What a process checks repeatedly: named limits, and keys from which it takes a random one each time. */
export interface Task {
  readonly prefix: string;
  readonly limits: Readonly<Record<string, { readonly limit: number; readonly window: number }>>;
  readonly keys: readonly (string | Readonly<Record<string, string>>)[];
}

/** The results of a process. */
export interface ProcessReport {
  /** The number of allowed checks of each key of each task. */
  readonly allowed: readonly (readonly number[])[];
  /** The rejected checks, each with the interval in milliseconds by this machine's clock. */
  readonly rejections: readonly (readonly [task: number, key: number, startMs: number, endMs: number])[];
  /** The number of checks without a decision. */
  readonly failed: number;
}

export interface HammerOptions {
  readonly url: string;
  readonly kind: 'ioredis' | 'node-redis';
  /** The name of its connection. */
  readonly name: string;
  readonly log: 'packed' | 'sorted-set';
  readonly denialCache: false | object;
  readonly tasks: readonly Task[];
}

/** Starts a separate process that hammers a server (see `hammer.mjs`). */
export class Hammer {
  readonly #process: ScriptProcess;

  constructor(options: HammerOptions) {
    this.#process = new ScriptProcess('hammer.mjs', options);
  }

  async stop(): Promise<ProcessReport> {
    return (await this.#process.request('stop')) as ProcessReport;
  }

  kill(): void {
    this.#process.kill();
  }
}

import type { Task } from './hammers.js';
import { ScriptProcess } from './script-process.js';

/** An action of the past. */
export interface Line {
  readonly atMs: number;
  readonly key: Task['keys'][number];
}

export interface ReplayerOptions {
  readonly url: string;
  readonly log: 'packed' | 'sorted-set';
  readonly denialCache: false | object;
  readonly task: Omit<Task, 'keys'>;
}

/** A separate process that decides the lines it gets (see `replayer.mjs`). */
export class Replayer {
  readonly #process: ScriptProcess;

  constructor(options: ReplayerOptions) {
    this.#process = new ScriptProcess('replayer.mjs', options);
  }

  /** Returns the names of the limits that rejected each line. */
  async decide(lines: readonly Line[]): Promise<string[][]> {
    return (await this.#process.request(lines)) as string[][];
  }

  kill(): void {
    this.#process.kill();
  }
}

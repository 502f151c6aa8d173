import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

export interface Counted<Result> {
  readonly instructions: number;
  readonly path: string;
  readonly result: Result;
}

/** Counts the instructions of one process. Counts do not depend on what else the machine does. Requires valgrind. */
export class Callgrind {
  readonly #dumps: string;
  #count = 0;

  private constructor(readonly folder: string) {
    this.#dumps = join(folder, 'counts');
  }

  static async create(): Promise<Callgrind> {
    return new Callgrind(await mkdtemp(join(tmpdir(), 'rollgate-callgrind-')));
  }

  /** What the command of the process starts with. Nothing is counted before {@link count}. */
  get command(): readonly [string, ...string[]] {
    return ['valgrind', '-q', '--tool=callgrind', '--instr-atstart=no', `--callgrind-out-file=${this.#dumps}`];
  }

  /**
   * Counts what the process executes during `work`.
   *
   * @returns The sum, the path of callgrind's file with the counts of each function, and what `work` returns.
   */
  async count<Result>(pid: number, work: () => Promise<Result>): Promise<Counted<Result>> {
    const control = (option: string) => run('callgrind_control', [option, String(pid)]);
    await control('--instr=on');
    await control('--zero');
    const result = await work();
    await control('--dump');
    await control('--instr=off');
    this.#count += 1;
    const path = `${this.#dumps}.${this.#count}`;
    const [, total] = /^(?:summary|totals): (\d+)/m.exec(await readFile(path, 'utf8'))!;
    return { instructions: Number(total), path, result };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.folder, { recursive: true });
  }
}

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface WorkerOptions {
  /** What the worker finds in `process.argv` from 2 on. */
  readonly args?: readonly string[];
  /** Flags for Node, such as `--expose-gc`. */
  readonly flags?: readonly string[];
  /** The core that the worker is pinned to, where `taskset` and a second core exist. */
  readonly core?: number;
}

/** No answer takes longer than this. */
const PATIENCE_MS = 120_000;

const hasTaskset = (process.env.PATH ?? '').split(delimiter).some((folder) => existsSync(join(folder, 'taskset')));

/** Whether workers can be kept to a core of their own. */
export const canPin = hasTaskset && availableParallelism() > 1;

/** A process of the benchmark's own that answers one question at a time. */
export class Worker<Question, Answer> {
  readonly #process: ChildProcess;

  private constructor(process: ChildProcess) {
    this.#process = process;
  }

  /** Starts `file`, a module that calls {@link answer}, and waits until it is ready. */
  static async start<Question, Answer>(file: string, options: WorkerOptions = {}): Promise<Worker<Question, Answer>> {
    const { args = [], flags = [], core } = options;
    const path = fileURLToPath(new URL(file, import.meta.url));
    const command = [process.execPath, ...process.execArgv, ...flags, path, ...args];
    const pinned = core !== undefined && canPin ? ['taskset', '-c', String(core), ...command] : command;
    const child = spawn(pinned[0]!, pinned.slice(1), {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      env: { ...process.env, NODE_ENV: 'production' },
    });
    const worker = new Worker<Question, Answer>(child);
    await worker.#nextMessage();
    return worker;
  }

  async ask(question: Question): Promise<Answer> {
    this.#process.send(question as object);
    return (await this.#nextMessage()) as Answer;
  }

  async stop(): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    const exit = once(this.#process, 'exit');
    this.#process.kill();
    await exit;
  }

  async #nextMessage(): Promise<unknown> {
    const done = new AbortController();
    const { signal } = done;
    const exit = once(this.#process, 'exit', { signal }).then(([code]) => {
      throw new Error(`A worker of the benchmark ended before it answered, with code ${code}`);
    });
    const late = AbortSignal.timeout(PATIENCE_MS);
    try {
      const message = once(this.#process, 'message', { signal: AbortSignal.any([signal, late]) });
      const [value] = (await Promise.race([message, exit])) as unknown[];
      return value;
    } catch (error) {
      await this.stop();
      throw error;
    } finally {
      exit.catch(() => {}); // It is only aborted from here on.
      done.abort();
    }
  }
}

/** In a worker: answers the questions that come, and ends with the process that asks. */
export function answer<Question, Answer>(answerOne: (question: Question) => Answer | Promise<Answer>): void {
  process.setSourceMapsEnabled(false); // tsx sets it; it would make each stack of an error dearer.
  process.on('disconnect', () => process.exit());
  process.on('message', async (question) => {
    process.send!(await answerOne(question as Question));
  });
  process.send!('ready');
}

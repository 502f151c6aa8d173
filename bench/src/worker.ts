import { type ChildProcess, spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface WorkerOptions {
  /** The worker's `process.argv` from index 2 on. */
  readonly args?: readonly string[];
  /** Flags for Node, such as `--expose-gc`. */
  readonly flags?: readonly string[];
  /** A program that runs Node, with its options, such as a profiler. */
  readonly under?: readonly string[];
  /** Pins the worker to this core, if the machine has `taskset` and a second core. */
  readonly core?: number;
  /** The longest that a task may take, in milliseconds. @defaultValue `120_000` */
  readonly timeoutMs?: number;
  /** Receives what the worker reports during a task: see {@link report}. */
  readonly onReport?: (value: unknown) => void;
}

/** What a worker sends before its result. */
interface ReportMessage {
  readonly report: unknown;
}

const hasTaskset = (process.env.PATH ?? '').split(delimiter).some((folder) => existsSync(join(folder, 'taskset')));

/** Whether each worker can have its own core. */
export const canPin = hasTaskset && availableParallelism() > 1;

/** A separate process that runs one task at a time. */
export class Worker<Task, Result> {
  readonly #process: ChildProcess;
  readonly #timeoutMs: number;
  /** Emits `result` for each result. */
  readonly #results = new EventEmitter();

  private constructor(process: ChildProcess, { timeoutMs = 120_000, onReport }: WorkerOptions) {
    this.#process = process;
    this.#timeoutMs = timeoutMs;
    process.on('message', (message) => {
      if (isReport(message)) onReport?.(message.report);
      else this.#results.emit('result', message);
    });
  }

  /** Starts `file`, a module that calls {@link handleTasks}, and waits until it is ready. */
  static async start<Task, Result>(file: string, options: WorkerOptions = {}): Promise<Worker<Task, Result>> {
    const { args = [], flags = [], under = [], core } = options;
    const path = fileURLToPath(new URL(file, import.meta.url));
    const command = [...under, process.execPath, ...process.execArgv, ...flags, path, ...args];
    const pinned = core !== undefined && canPin ? ['taskset', '-c', String(core), ...command] : command;
    const child = spawn(pinned[0]!, pinned.slice(1), {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      env: { ...process.env, NODE_ENV: 'production' },
    });
    const worker = new Worker<Task, Result>(child, options);
    await worker.#nextMessage();
    return worker;
  }

  get pid(): number {
    return this.#process.pid!;
  }

  async run(task: Task): Promise<Result> {
    this.#process.send(task as object);
    return (await this.#nextMessage()) as Result;
  }

  /** Sends a signal to the process, such as `SIGSTOP`. */
  signal(name: NodeJS.Signals): void {
    this.#process.kill(name);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
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
      throw new Error(`Expected a result from a worker of the benchmark, got its exit with code ${code}`);
    });
    const late = AbortSignal.timeout(this.#timeoutMs);
    try {
      const message = once(this.#results, 'result', { signal: AbortSignal.any([signal, late]) });
      const [value] = (await Promise.race([message, exit])) as unknown[];
      return value;
    } catch (error) {
      await this.stop();
      throw error;
    } finally {
      exit.catch(() => {}); // The abort rejects it.
      done.abort();
    }
  }
}

/** A process by the name that it got as its first argument. */
export interface NamedWorker<Name, Task, Result> {
  readonly name: Name;
  readonly worker: Worker<Task, Result>;
}

/** Starts a process of `file` for each name. Its first argument is the name. */
export async function startEach<Name extends string, Task, Result>(
  names: readonly Name[],
  file: string,
  { args = [], ...options }: WorkerOptions = {},
): Promise<readonly NamedWorker<Name, Task, Result>[] & AsyncDisposable> {
  const start = async (name: Name) => {
    return { name, worker: await Worker.start<Task, Result>(file, { args: [name, ...args], ...options }) };
  };
  const workers = await Promise.all(names.map(start));
  const stopAll = async () => void (await Promise.all(workers.map(({ worker }) => worker.stop())));
  return Object.assign(workers, { [Symbol.asyncDispose]: stopAll });
}

function isReport(message: unknown): message is ReportMessage {
  return typeof message === 'object' && message !== null && 'report' in message;
}

/** Reports a value to the parent process at once, even if this process is killed before its result. Call it in a worker. */
export function report(value: unknown): void {
  process.send!({ report: value } satisfies ReportMessage);
}

/** Runs the tasks that the parent process sends. Ends when the parent process ends. Call it in a worker. */
export function handleTasks<Task, Result>(runTask: (task: Task) => Result | Promise<Result>): void {
  process.setSourceMapsEnabled(false); // tsx turns them on, which makes the stack of each error more expensive.
  process.on('disconnect', () => process.exit());
  process.on('message', async (task) => {
    process.send!(await runTask(task as Task));
  });
  process.send!('ready');
}

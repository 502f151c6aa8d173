import { type ChildProcess, spawn } from 'node:child_process';
import type { Caretaker } from './caretaker.js';

/** Why a server did not start. */
export class StartError extends Error {
  readonly portTaken: boolean;

  constructor(output: string) {
    super(`The Redis server did not start:\n${output}`);
    this.name = 'StartError';
    this.portTaken = output.includes('Address already in use');
  }
}

const READY = 'Ready to accept connections';

/** One run of a server, from its start to its exit. */
export class ServerProcess {
  readonly #child: ChildProcess;
  readonly #exited: Promise<void>;
  #isRunning = true;

  private constructor(child: ChildProcess, caretaker: Caretaker) {
    this.#child = child;
    if (child.pid !== undefined) caretaker.watch(child.pid);
    this.#exited = new Promise((resolve) => {
      const ended = () => {
        this.#isRunning = false;
        caretaker.unwatch();
        resolve();
      };
      child.once('exit', ended);
      child.once('error', ended); // It could not be spawned.
    });
  }

  /**
   * Resolves when the server listens; that is its own word for it, as somebody else may answer on the port.
   *
   * @throws StartError when it ends before.
   */
  static async start([file, ...args]: readonly string[], caretaker: Caretaker): Promise<ServerProcess> {
    const child = spawn(file!, args, {
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true, // Control-C is for the program that uses it, which may want to say goodbye.
    });
    const started = new ServerProcess(child, caretaker);
    let output = '';
    await new Promise<void>((resolve, reject) => {
      const read = (chunk: Buffer) => {
        if (output.includes(READY)) return; // From then on it is read so that the pipe does not fill.
        output += chunk;
        if (output.includes(READY)) resolve();
      };
      child.stdout!.on('data', read);
      child.stderr!.on('data', read);
      child.once('error', reject);
      child.once('close', () => reject(new StartError(output)));
    });
    return started;
  }

  get pid(): number {
    return this.#child.pid!;
  }

  get isRunning(): boolean {
    return this.#isRunning;
  }

  signal(signal: 'SIGSTOP' | 'SIGCONT'): void {
    this.#child.kill(signal);
  }

  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#exited;
  }
}

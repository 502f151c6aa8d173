import { type ChildProcess, spawn } from 'node:child_process';
import type { CleanupShell } from './cleanup-shell.js';

/** The error of a server that did not start, with its output. */
export class StartError extends Error {
  readonly portTaken: boolean;

  constructor(output: string) {
    super(`Expected the server to start, got an exit. Its output:\n${output}`);
    this.name = 'StartError';
    this.portTaken = output.includes('Address already in use');
  }
}

/** What Redis and PostgreSQL print, or PgBouncer. */
const READY = /ready to accept (?:read-only )?connections|process up/i;

/** One run of a server, from its start to its exit. */
export class ServerProcess {
  readonly #child: ChildProcess;
  readonly #exited: Promise<void>;
  #isRunning = true;

  private constructor(child: ChildProcess, cleanup: CleanupShell) {
    this.#child = child;
    if (child.pid !== undefined) cleanup.watch(child.pid);
    this.#exited = new Promise((resolve) => {
      const ended = () => {
        this.#isRunning = false;
        cleanup.unwatch();
        resolve();
      };
      child.once('exit', ended);
      child.once('error', ended); // The system could not start it.
    });
  }

  /**
   * Resolves when the server's log states that it listens. A connection would not prove it, because another server may listen
   * on the port.
   *
   * @throws StartError if the server ends before that.
   */
  static async start([file, ...args]: readonly string[], cleanup: CleanupShell): Promise<ServerProcess> {
    const child = spawn(file!, args, {
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true, // Control-C is for the program that uses the server, which may have to shut down first.
    });
    const started = new ServerProcess(child, cleanup);
    let output = '';
    await new Promise<void>((resolve, reject) => {
      const read = (chunk: Buffer) => {
        if (READY.test(output)) return; // Still reads the output, so that the pipe does not fill.
        output += chunk;
        if (READY.test(output)) resolve();
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

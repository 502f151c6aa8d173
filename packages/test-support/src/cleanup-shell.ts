import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Socket } from 'node:net';

// Each line is the id of the server's process, or empty if none runs. The input ends when the process that writes it ends.
const SCRIPT = 'server=; while read -r line; do server=$line; done; [ -z "$server" ] || kill -9 "$server"; rm -rf "$1"';

/**
 * Cleans up after this process, however it ends. A shell waits for the end of a pipe, then ends the server and removes its
 * folder. An `exit` handler would run neither at a signal nor inside Jest, where `process` is a copy.
 */
export class CleanupShell {
  readonly #shell: ChildProcess;
  readonly #stdin: Socket;

  constructor(folder: string) {
    this.#shell = spawn('/bin/sh', ['-c', SCRIPT, 'cleanup-shell', folder], {
      stdio: ['pipe', 'ignore', 'ignore'],
      detached: true, // It must survive the signals of a terminal.
    });
    this.#stdin = this.#shell.stdin as Socket;
    this.#stdin.on('error', () => {}); // The shell may have ended.
    this.#shell.on('error', () => {});
    this.#shell.unref();
    this.#stdin.unref();
  }

  watch(pid: number): void {
    this.#stdin.write(`${pid}\n`);
  }

  /** Call this as soon as the process has ended, because its id may then belong to another process. */
  unwatch(): void {
    this.#stdin.write('\n');
  }

  /** Removes the folder now. */
  async finish(): Promise<void> {
    if (this.#shell.exitCode !== null || this.#shell.signalCode !== null) return;
    this.#shell.ref();
    this.#stdin.end();
    await once(this.#shell, 'exit');
  }
}

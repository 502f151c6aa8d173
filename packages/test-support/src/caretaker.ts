import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Socket } from 'node:net';

// Lines are the id of the server's process, empty when there is none. Their end is the end of who wrote them.
const SCRIPT = 'server=; while read -r line; do server=$line; done; [ -z "$server" ] || kill -9 "$server"; rm -rf "$1"';

/**
 * Clears up after this process, however it ends: a shell that waits for the end of a pipe, then ends the server and
 * removes its folder. An 'exit' handler would run neither at a signal nor inside Jest, where `process` is a copy.
 */
export class Caretaker {
  readonly #shell: ChildProcess;
  readonly #stdin: Socket;

  constructor(folder: string) {
    this.#shell = spawn('/bin/sh', ['-c', SCRIPT, 'caretaker', folder], {
      stdio: ['pipe', 'ignore', 'ignore'],
      detached: true, // Signals from a terminal are not for it.
    });
    this.#stdin = this.#shell.stdin as Socket;
    this.#stdin.on('error', () => {}); // Somebody ended it.
    this.#shell.on('error', () => {});
    this.#shell.unref();
    this.#stdin.unref();
  }

  watch(pid: number): void {
    this.#stdin.write(`${pid}\n`);
  }

  /** To be told as soon as the process has ended: its id can be another one's from then on. */
  unwatch(): void {
    this.#stdin.write('\n');
  }

  /** Has the folder removed at once. */
  async finish(): Promise<void> {
    if (this.#shell.exitCode !== null || this.#shell.signalCode !== null) return;
    this.#shell.ref();
    this.#stdin.end();
    await once(this.#shell, 'exit');
  }
}

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';

/** A separate process that runs one of the scripts in this folder, or a bundled one, and replies to each message with a message. */
export class ScriptProcess {
  readonly #child: ChildProcess;
  readonly #ended: Promise<never>;

  readonly #takesNote: (message: unknown) => boolean;

  /** @param takesNote Called with each message of the process. Returns whether it is a note, which is no reply. */
  constructor(script: string, options: object, takesNote: (message: unknown) => boolean = () => false) {
    this.#takesNote = takesNote;
    this.#child = fork(resolve(__dirname, script), [JSON.stringify(options)], { execArgv: ['--no-warnings'] });
    this.#ended = once(this.#child, 'exit').then(([code, signal]) => {
      throw new Error(`${script} ended unexpectedly: ${code ?? signal}`);
    });
    this.#ended.catch(() => {}); // `request` rejects with the error.
  }

  async request(message: unknown): Promise<unknown> {
    const replied = new Promise((resolve) => {
      const onMessage = (received: unknown) => {
        if (this.#takesNote(received)) return;
        this.#child.off('message', onMessage);
        resolve(received);
      };
      this.#child.on('message', onMessage);
    });
    this.#child.send(message as string);
    return Promise.race([replied, this.#ended]);
  }

  kill(): void {
    this.#child.kill('SIGKILL');
  }

  /** Stops the process until {@link resume}. */
  pause(): void {
    this.#child.kill('SIGSTOP');
  }

  resume(): void {
    this.#child.kill('SIGCONT');
  }

  /** Resolves when the process has ended. */
  async ended(): Promise<void> {
    await this.#ended.catch(() => {});
  }
}

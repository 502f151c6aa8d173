import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';

/** A separate process that runs one of the scripts in this folder, and replies to each message with a message. */
export class ScriptProcess {
  readonly #child: ChildProcess;
  readonly #ended: Promise<never>;

  constructor(script: string, options: object) {
    this.#child = fork(`${__dirname}/${script}`, [JSON.stringify(options)], { execArgv: ['--no-warnings'] });
    this.#ended = once(this.#child, 'exit').then(([code, signal]) => {
      throw new Error(`${script} ended unexpectedly: ${code ?? signal}`);
    });
    this.#ended.catch(() => {}); // `request` rejects with the error.
  }

  async request(message: unknown): Promise<unknown> {
    const replied = once(this.#child, 'message');
    this.#child.send(message as string);
    const [reply] = await Promise.race([replied, this.#ended]);
    return reply;
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

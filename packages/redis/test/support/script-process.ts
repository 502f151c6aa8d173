import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';

/** A separate process that runs one of the scripts in this folder, and replies to each message with a message. */
export class ScriptProcess {
  readonly #child: ChildProcess;
  readonly #ended: Promise<never>;

  constructor(script: string, options: object) {
    this.#child = fork(`${__dirname}/${script}`, [JSON.stringify(options)], { execArgv: ['--no-warnings'] });
    this.#ended = once(this.#child, 'exit').then(([code, signal]) => {
      throw new Error(`${script} ended by itself: ${code ?? signal}`);
    });
    this.#ended.catch(() => {}); // `ask` rejects with the error.
  }

  async ask(message: unknown): Promise<unknown> {
    const answered = once(this.#child, 'message');
    this.#child.send(message as string);
    const [answer] = await Promise.race([answered, this.#ended]);
    return answer;
  }

  kill(): void {
    this.#child.kill('SIGKILL');
  }
}

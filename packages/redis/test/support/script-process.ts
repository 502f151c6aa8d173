import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';

/** A process of its own that runs one of the scripts in this folder, and answers a message with a message. */
export class ScriptProcess {
  readonly #child: ChildProcess;
  readonly #ended: Promise<never>;

  constructor(script: string, options: object) {
    this.#child = fork(`${__dirname}/${script}`, [JSON.stringify(options)], { execArgv: ['--no-warnings'] });
    this.#ended = once(this.#child, 'exit').then(([code, signal]) => {
      throw new Error(`${script} ended by itself: ${code ?? signal}`);
    });
    this.#ended.catch(() => {}); // Whoever asks is told.
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

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';

interface WaitingOptions {
  readonly url: string;
  readonly prefix: string;
  readonly limit: number;
  readonly window: number;
  readonly lease: string;
}

interface Message {
  readonly isReady?: boolean;
  readonly isDone?: boolean;
  readonly startedMs?: number;
}

/** A separate process that waits (see `waiting-process.mjs`). */
export class WaitingProcess {
  /** When its calls have started, by the monotonic clock of the machine. */
  readonly startedMs: number[] = [];
  readonly #child: ChildProcess;
  #done: Promise<void> | undefined;

  constructor(options: WaitingOptions) {
    this.#child = fork(`${__dirname}/waiting-process.mjs`, [JSON.stringify(options)], { execArgv: ['--no-warnings'] });
    this.#child.on('message', ({ startedMs }: Message) => {
      if (startedMs !== undefined) this.startedMs.push(startedMs);
    });
  }

  /** Resolves when its connections work. */
  async prepare(): Promise<void> {
    const ready = this.#next('isReady');
    this.#child.send({});
    await ready;
  }

  /** Waits so many times at once. */
  callAll(count: number): void {
    this.#done = this.#next('isDone');
    this.#done.catch(() => {});
    this.#child.send({ calls: Array.from({ length: count }, (_, index) => ({ index, calledMs: 0 })) });
  }

  /** Resolves when all of its calls have started. */
  async done(): Promise<void> {
    await this.#done;
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

  async #next(flag: 'isReady' | 'isDone'): Promise<void> {
    const ended = once(this.#child, 'exit').then(() => {
      throw new Error('The process ended unexpectedly');
    });
    const received = new Promise<void>((resolve) => {
      this.#child.on('message', (message: Message) => {
        if (message[flag]) resolve();
      });
    });
    await Promise.race([received, ended]);
  }
}

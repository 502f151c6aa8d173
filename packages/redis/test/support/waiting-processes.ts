import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import type { OnStoreError } from '@rollgate/core';

export interface WaitingOptions {
  readonly url: string;
  readonly prefix: string;
  readonly limit: number;
  /** In milliseconds. */
  readonly window: number;
  readonly lease: string;
  readonly timeout: string;
  readonly onStoreError: OnStoreError;
}

/** A call of `wait`. Times are milliseconds. */
export interface WaitCall {
  readonly index: number;
  /** When to call, by the monotonic clock of the machine. */
  readonly calledMs: number;
  readonly cost?: number;
  readonly timeoutMs?: number;
  /** How long after its start the action refunds its units. */
  readonly refundMs?: number | undefined;
  /** How long after the call it gives up. */
  readonly abortMs?: number | undefined;
}

/** What happens to a call, by the monotonic clock of the machine. */
export interface WaitMessage {
  readonly index: number;
  readonly calledMs?: number;
  readonly startedMs?: number;
  /** Since when the start may count in Redis, because an action may start late. */
  readonly countedMs?: number;
  readonly refundedMs?: number;
  /** When it has ended without a start, and why. */
  readonly endedMs?: number;
  readonly reason?: string;
}

type Message = WaitMessage & { readonly isReady?: boolean; readonly isDone?: boolean };

/** A separate process that waits (see `waiting-process.mjs`). */
export class WaitingProcess {
  readonly #child: ChildProcess;
  #done: Promise<void> | undefined;

  /** @param program The bundled file. */
  constructor(program: string, options: WaitingOptions, onMessage: (message: WaitMessage) => void) {
    this.#child = fork(program, [JSON.stringify(options)], { execArgv: ['--no-warnings'] });
    this.#child.on('message', (message: Message) => {
      if ('index' in message) onMessage(message);
    });
  }

  /** Resolves when its connections work. */
  async prepare(): Promise<void> {
    const ready = this.#next('isReady');
    this.#child.send({});
    await ready;
  }

  call(calls: readonly WaitCall[]): void {
    this.#done = this.#next('isDone');
    this.#done.catch(() => {});
    this.#child.send({ calls });
  }

  /** Resolves when all of its calls have started or ended. */
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

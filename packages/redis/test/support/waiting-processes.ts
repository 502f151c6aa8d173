import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { dirname } from 'node:path';
import type { OnStoreError } from '@rollgate/core';
import { bundleProgram } from '@rollgate/test-support/bundle-program';

export interface WaitingOptions {
  readonly url: string;
  readonly prefix: string;
  readonly limit: number;
  /** In milliseconds. */
  readonly window: number;
  readonly lease: string;
  readonly timeout?: string;
  readonly onStoreError?: OnStoreError;
  /** How long the process stands still after it has read its clock to compare it with a turn. */
  readonly stallMs?: number;
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
  /** When its calls have started, by the monotonic clock of the machine. */
  readonly startedMs: number[] = [];
  readonly #child: ChildProcess;
  #done: Promise<void> | undefined;

  constructor(options: WaitingOptions, onMessage?: (message: WaitMessage) => void) {
    const program = bundleProgram(`${__dirname}/waiting-process.mjs`);
    this.#child = fork(program, [JSON.stringify(options)], { execArgv: ['--no-warnings'] });
    this.#child.once('exit', () => rmSync(dirname(program), { recursive: true }));
    this.#child.on('message', (message: Message) => {
      if (message.startedMs !== undefined) this.startedMs.push(message.startedMs);
      if ('index' in message) onMessage?.(message);
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
    this.call(Array.from({ length: count }, (_, index) => ({ index, calledMs: 0 })));
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

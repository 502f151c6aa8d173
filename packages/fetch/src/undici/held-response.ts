import { brotliDecompressSync, unzipSync } from 'node:zlib';
import type { Clock } from '@rollgate/core';
import { scheduleAfter } from '@rollgate/core/store';
import type { Dispatcher } from 'undici';
import type { CallController } from './call-controller.js';

type Headers = Parameters<NonNullable<Dispatcher.DispatchHandler['onResponseStart']>>[2];

/** A longer body is passed on, so its call is not repeated. */
const MAX_BYTES = 65_536;
/** Neither is the call of a body that takes longer. */
const MAX_MS = 5000;
/** A body that decompresses to more is not read. */
const MAX_TEXT_BYTES = 1_048_576;

/** A response that waits until it is known whether its call is repeated. */
export class HeldResponse {
  readonly #chunks: Buffer[] = [];
  #size = 0;
  /** Passes on how the response has ended. */
  end: () => void = () => {};
  stopTimer: () => void = () => {};

  constructor(
    readonly status: number,
    readonly headers: Headers,
    readonly statusMessage: string | undefined,
  ) {}

  /** Calls `onTimeout` if the body takes too long. */
  startTimer(onTimeout: () => void, clock: Clock | undefined): void {
    this.stopTimer = scheduleAfter(MAX_MS, onTimeout, clock);
  }

  /** Returns whether there is still room. */
  push(chunk: Buffer): boolean {
    this.#chunks.push(chunk);
    this.#size += chunk.length;
    return this.#size <= MAX_BYTES;
  }

  /** Passes on what has arrived so far. */
  passOn(handler: Dispatcher.DispatchHandler, controller: CallController): void {
    controller.pass(() => handler.onResponseStart?.(controller, this.status, this.headers, this.statusMessage));
    for (const chunk of this.#chunks) controller.pass(() => handler.onResponseData?.(controller, chunk));
  }

  /** Returns the parsed JSON of the body, or `undefined` if it is anything else. */
  json(): unknown {
    try {
      return JSON.parse(new TextDecoder().decode(this.#decoded()));
    } catch {
      return undefined;
    }
  }

  /** Dispatchers do not decode the body. */
  #decoded(): Buffer {
    const body = Buffer.concat(this.#chunks);
    const encoding = String(this.headers['content-encoding'] ?? 'identity').toLowerCase();
    if (encoding === 'identity' || encoding === '') return body;
    const limit = { maxOutputLength: MAX_TEXT_BYTES };
    return encoding === 'br' ? brotliDecompressSync(body, limit) : unzipSync(body, limit);
  }
}

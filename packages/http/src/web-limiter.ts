import type { Decision, Limits, RateLimiter } from '@rollgate/core';
import { isThenable, refundInBackground, scheduleAfter } from '@rollgate/core/store';
import type { Host, RequestReader } from './framework.js';
import { Gate } from './gate.js';
import type { HttpOptions } from './options.js';
import { Allowed, Exempt, type RateLimitResult, Rejected, type WebHeaders } from './web-result.js';

/** A host whose requests and responses are those of the Fetch standard. */
export interface WebHost<Call> extends RequestReader<Call> {
  /** Returns the standard request of a call. */
  readonly getRequest: (call: Call) => Request;
  /**
   * Keeps the code of a call running until the promise settles. For platforms that otherwise end it when the client
   * disconnects.
   */
  readonly keepAlive?: (call: Call, promise: Promise<unknown>) => void;
}

const HEADER_WRITER: Pick<Host<never, WebHeaders>, 'setHeader' | 'getHeader' | 'removeHeader' | 'lowercaseHeaders'> = {
  lowercaseHeaders: true,
  setHeader: (headers, name, value) => headers.set(name, value),
  getHeader: (headers, name) => headers.get(name) ?? undefined,
  removeHeader: (headers, name) => headers.delete(name),
};

/** Limits requests on a host whose responses are values. */
export class WebLimiter<Call> {
  readonly #host: WebHost<Call>;
  readonly #gate: Gate<Call, Response, WebHeaders>;

  /** @throws TypeError, RangeError with the name of the invalid option. */
  constructor(host: WebHost<Call>, options: HttpOptions<Call, Limits, Response>) {
    this.#host = host;
    this.#gate = new Gate<Call, Response, WebHeaders>({ ...host, ...HEADER_WRITER }, options);
  }

  /** The limiter that decides the requests. */
  get limiter(): RateLimiter {
    return this.#gate.limiter;
  }

  /**
   * Decides a request. With a queue, it resolves at the request's slot.
   *
   * @throws The error of an option function, or a `message` that is an error. If the client disconnects before the slot, the
   * reason of the request's signal. The promise rejects with it.
   */
  async check(call: Call): Promise<RateLimitResult> {
    const judged = this.#gate.judge(call);
    const outcome = isThenable(judged) ? await judged : judged;
    const request = this.#host.getRequest(call);
    if (outcome.kind === 'exempt') return new Exempt();
    const { decision } = outcome;
    if (outcome.kind === 'rejected') {
      if ('error' in outcome.rejection) throw outcome.rejection.error;
      return new Rejected(this.#gate, decision, request, outcome.rejection);
    }
    if (!outcome.isDryRun && decision.delayMs > 0) {
      const slot = waitForSlot(this.limiter, decision, request.signal);
      this.#keepAlive(call, slot);
      await slot;
    }
    const keepAlive = (end: Promise<unknown>) => this.#keepAlive(call, end);
    return new Allowed(this.#gate, decision, call, request, !outcome.isDryRun, keepAlive);
  }

  #keepAlive(call: Call, promise: Promise<unknown>): void {
    this.#host.keepAlive?.(
      call,
      promise.catch(() => {}),
    );
  }
}

/** Waits for a request's slot in a queue. If the client disconnects before, it refunds the slot and rejects. */
function waitForSlot(limiter: RateLimiter, decision: Decision, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = () => {
      cancel();
      refundInBackground(limiter, decision);
      reject(signal!.reason);
    };
    const onSlot = () => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    };
    const cancel = scheduleAfter(decision.delayMs, onSlot, limiter.clock);
    if (signal?.aborted) onAbort();
    else signal?.addEventListener('abort', onAbort);
  });
}

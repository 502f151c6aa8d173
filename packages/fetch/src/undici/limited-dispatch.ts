import type { Duplex } from 'node:stream';
import type { Dispatcher } from 'undici';
import type { OutgoingCalls, StartedCall } from '../calls/outgoing-calls.js';
import type { CallRequest, ResponseHead } from '../dialects/dialect.js';
import { isUnsent } from '../fetch/is-unsent.js';
import type { ResolvedOptions } from '../options/resolve-options.js';
import type { Report } from '../reports/read-report.js';
import { CallController } from './call-controller.js';
import { type DispatchOptions, hasIdempotencyKey, hasReplayableBody } from './call-of-dispatch.js';
import { HeldResponse } from './held-response.js';

type Handler = Dispatcher.DispatchHandler;
type Controller = Dispatcher.DispatchController;
type Headers = Parameters<NonNullable<Handler['onResponseStart']>>[2];

/** A call through a dispatcher, with all of its attempts. Handles the events of the present one. */
export class LimitedDispatch implements Handler {
  readonly #controller = new CallController();
  readonly #mayRetry: boolean;
  #attempt = 0;
  #waitMs: number;
  #rejection: Report | undefined;
  #call: StartedCall | undefined;
  /** The response that waits, and what its headers report. */
  #held: HeldResponse | undefined;
  #head: ResponseHead | undefined;
  #trailers: Headers = {};
  /** What the present response reports, and the end of sharing that. */
  #report: Report | undefined;
  #finished: Promise<void> | undefined;
  #hasFailed = false;

  constructor(
    readonly calls: OutgoingCalls,
    readonly options: ResolvedOptions,
    readonly dispatch: Dispatcher.Dispatch,
    readonly dispatched: DispatchOptions,
    readonly request: CallRequest,
    readonly handler: Handler,
  ) {
    this.#waitMs = options.maxWaitMs;
    this.#mayRetry = hasReplayableBody(dispatched) && options.mayRepeat(request.method, hasIdempotencyKey(dispatched));
  }

  /** Starts the first attempt. The caller can abort the wait before it. */
  begin(): void {
    this.handler.onRequestStart?.(this.#controller, null);
    this.#start().catch((error) => this.#fail(error));
  }

  async #start(): Promise<void> {
    const waiting = { attempt: ++this.#attempt, waitMs: this.#waitMs, rejection: this.#rejection };
    try {
      this.#call = await this.calls.start(this.request, { ...waiting, signal: this.#controller.signal });
    } catch (error) {
      if (this.#held === undefined || this.#controller.aborted) throw error;
      this.#passOn();
      return;
    }
    this.#held = undefined;
    this.#waitMs -= this.#call.waitedMs;
    this.dispatch(this.dispatched, this);
  }

  onRequestStart(controller: Controller): void {
    this.#controller.follow(controller);
  }

  onRequestUpgrade(_controller: Controller, ...upgrade: [number, Headers, Duplex]): void {
    void this.calls.fail(this.#call!, false);
    this.handler.onRequestUpgrade?.(this.#controller, ...upgrade);
  }

  onResponseStart(_controller: Controller, status: number, headers: Headers, statusMessage?: string): void {
    if (status < 200) {
      this.handler.onResponseStart?.(this.#controller, status, headers, statusMessage);
      return;
    }
    this.#head = this.calls.headOf(this.#call!, status, { get: (name) => textOf(headers[name]) });
    const response = new HeldResponse(status, headers, statusMessage);
    if (this.calls.readsBody(this.#head)) {
      this.#held = response;
      return;
    }
    const report = this.calls.read(this.#call!, this.#head);
    this.#finish(report);
    if (this.#canRetry(report)) this.#held = response;
    else response.passOn(this.handler, this.#controller);
  }

  onResponseData(_controller: Controller, chunk: Buffer): void {
    if (this.#held === undefined) this.handler.onResponseData?.(this.#controller, chunk);
    else if (!this.#held.push(chunk)) {
      this.#held.passOn(this.handler, this.#controller);
      this.#held = undefined;
      if (this.#report === undefined) this.#finish(this.calls.read(this.#call!, this.#head!));
    }
  }

  onResponseEnd(_controller: Controller, trailers: Headers): void {
    if (this.#held === undefined) this.handler.onResponseEnd?.(this.#controller, trailers);
    else this.#decide(this.#held, trailers).catch((error) => this.#fail(error));
  }

  onResponseError(_controller: Controller, error: Error): void {
    this.#fail(error);
  }

  /** Closes the call and passes the error on, once. It may be one that the handler has thrown, as dispatchers catch them. */
  #fail(error: Error): void {
    if (this.#hasFailed) return;
    this.#hasFailed = true;
    if (this.#report === undefined && this.#call !== undefined) void this.calls.fail(this.#call, isUnsent(error));
    this.handler.onResponseError?.(this.#controller, error);
  }

  #finish(report: Report): void {
    this.#report = report;
    this.#finished = this.calls.finish(this.#call!, report);
  }

  #canRetry({ isRejected, mayRetry, retryAfterMs = 0 }: Report): boolean {
    return (
      isRejected && this.#mayRetry && mayRetry && this.#attempt < this.options.attempts && retryAfterMs <= this.#waitMs
    );
  }

  /** Repeats the call of a whole response, or passes the response on. */
  async #decide(held: HeldResponse, trailers: Headers): Promise<void> {
    this.#trailers = trailers;
    if (this.#report === undefined) this.#finish(this.calls.read(this.#call!, { ...this.#head!, body: held.json() }));
    const report = this.#report!;
    await this.#finished;
    if (!this.#canRetry(report)) {
      this.#passOn();
      return;
    }
    this.#rejection = report;
    this.#report = undefined;
    this.#call = undefined;
    await this.#start();
  }

  #passOn(): void {
    this.#held!.passOn(this.handler, this.#controller);
    this.handler.onResponseEnd?.(this.#controller, this.#trailers);
  }
}

function textOf(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.join(', ') : value;
}

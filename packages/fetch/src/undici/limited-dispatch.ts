import type { Duplex } from 'node:stream';
import type { Dispatcher } from 'undici';
import type { OutgoingCalls } from '../calls/outgoing-calls.js';
import type { StartedCall } from '../calls/started-call.js';
import { cancelBody, onBodyError } from '../calls/unsent-body.js';
import type { CallRequest, ResponseHead } from '../dialects/dialect.js';
import type { ResolvedFetchOptions } from '../options/resolve-options.js';
import type { Report } from '../reports/read-report.js';
import { CallController } from './call-controller.js';
import { type DispatchOptions, hasIdempotencyKey, hasReplayableBody } from './call-of-dispatch.js';
import { HeldResponse } from './held-response.js';

type Handler = Dispatcher.DispatchHandler;
type Controller = Dispatcher.DispatchController;
type Headers = Parameters<NonNullable<Handler['onResponseStart']>>[2];

/** A call through a dispatcher, with all of its attempts. Handles the events of the present one. */
export class LimitedDispatch implements Handler {
  readonly #controller = new CallController((error) => this.#fail(error));
  /** What inner interceptors add, such as redirections. The caller keeps it. */
  readonly #context = {};
  readonly #mayRetry: boolean;
  #attempt = 0;
  #waitMs: number;
  #rejection: Report | undefined;
  #call: StartedCall | undefined;
  /** Whether the present attempt may have reached a server. */
  #isSent = false;
  /** The headers of the present response. */
  #head: ResponseHead | undefined;
  #held: HeldResponse | undefined;
  /** What the present response reports, and the end of sharing that. */
  #report: Report | undefined;
  #finished: Promise<void> | undefined;
  #hasFailed = false;

  constructor(
    readonly calls: OutgoingCalls,
    readonly options: ResolvedFetchOptions,
    readonly dispatch: Dispatcher.Dispatch,
    readonly dispatched: DispatchOptions,
    readonly request: CallRequest,
    readonly handler: Handler,
  ) {
    this.#waitMs = options.maxWaitMs;
    onBodyError(dispatched.body, (error) => this.#controller.abort(error));
    this.#mayRetry = hasReplayableBody(dispatched) && options.mayRepeat(request.method, hasIdempotencyKey(dispatched));
  }

  /** Starts the first attempt. The caller can abort the wait before it. */
  begin(): void {
    this.handler.onRequestStart?.(this.#controller, this.#context);
    this.#start().catch((error) => this.#fail(error));
  }

  async #start(): Promise<void> {
    const waiting = { attempt: ++this.#attempt, waitMs: this.#waitMs, rejection: this.#rejection };
    try {
      this.#call = await this.calls.start(this.request, { ...waiting, signal: this.#controller.signal });
    } catch (error) {
      if (this.#held === undefined || this.#controller.aborted) throw error;
      this.#passOn(this.#held);
      return;
    }
    this.#held = undefined;
    this.#head = undefined;
    this.#isSent = false;
    this.#waitMs -= this.#call.waitedMs;
    this.dispatch(this.dispatched, this);
  }

  /** Dispatchers call it before they write a request to a connection. They do not write one that is aborted in this call. */
  onRequestStart(controller: Controller, context: object | null): void {
    this.#isSent ||= !this.#controller.aborted;
    Object.assign(this.#context, context);
    this.#controller.follow(controller);
  }

  onRequestUpgrade(_controller: Controller, ...upgrade: [number, Headers, Duplex]): void {
    void this.calls.closing.fail(this.#call!, false);
    this.handler.onRequestUpgrade?.(this.#controller, ...upgrade);
  }

  onResponseStart(_controller: Controller, status: number, headers: Headers, statusMessage?: string): void {
    if (status < 200) {
      this.handler.onResponseStart?.(this.#controller, status, headers, statusMessage);
      return;
    }
    this.#head = this.calls.headOf(this.#call!, status, { get: (name) => textOf(headers[name]) }, this.#origin);
    const response = new HeldResponse(status, headers, statusMessage);
    const readsBody = this.calls.readsBody(this.#head);
    if (readsBody || this.#canRetry(this.#finish(this.#head))) this.#hold(response);
    else response.passOn(this.handler, this.#controller);
  }

  onResponseData(_controller: Controller, chunk: Buffer): void {
    if (this.#held === undefined) this.#controller.pass(() => this.handler.onResponseData?.(this.#controller, chunk));
    else if (!this.#held.push(chunk)) this.#release(this.#held);
  }

  onResponseEnd(_controller: Controller, trailers: Headers): void {
    const end = () => this.handler.onResponseEnd?.(this.#controller, trailers);
    if (this.#held === undefined) this.#controller.pass(end);
    else this.#decide(this.#held, end);
  }

  onResponseError(_controller: Controller, error: Error): void {
    if (this.#held === undefined || this.#controller.aborted) this.#fail(error);
    else this.#decide(this.#held, () => this.#fail(error));
  }

  /** Closes the call and passes the error on, once. It may be one that the handler has thrown, as dispatchers catch them. */
  #fail(error: Error): void {
    if (this.#hasFailed) return;
    this.#hasFailed = true;
    this.#held?.stopTimer();
    this.#controller.dropEvents();
    if (this.#call === undefined) cancelBody(this.dispatched.body, error);
    if (this.#report === undefined && this.#call !== undefined) {
      if (this.#head === undefined) void this.calls.closing.fail(this.#call, !this.#isSent);
      else this.#finish(this.#head);
    }
    this.handler.onResponseError?.(this.#controller, error);
  }

  #finish(head: ResponseHead): Report {
    const report = this.calls.read(this.#call!, head, this.#origin !== this.request.url.origin);
    this.#report = report;
    this.#finished = this.calls.closing.finish(this.#call!, report);
    return report;
  }

  /** The server of the present response. An inner interceptor that follows redirections adds the addresses. */
  get #origin(): string {
    const { history } = this.#context as { history?: readonly URL[] };
    return history?.at(-1)?.origin ?? this.request.url.origin;
  }

  #canRetry({ isRejected, mayRetry, retryAfterMs = 0 }: Report): boolean {
    return (
      isRejected && this.#mayRetry && mayRetry && this.#attempt < this.options.attempts && retryAfterMs <= this.#waitMs
    );
  }

  #hold(response: HeldResponse): void {
    this.#held = response;
    const onTimeout = () => {
      try {
        this.#release(response);
      } catch (error) {
        this.#controller.abort(error as Error); // As dispatchers do with what a handler throws.
      }
    };
    response.startTimer(onTimeout, this.options.clock);
  }

  /** Passes on a response that is too long to be held. Its headers alone report limits. */
  #release(held: HeldResponse): void {
    held.stopTimer();
    this.#held = undefined;
    if (this.#report === undefined) this.#finish(this.#head!);
    held.passOn(this.handler, this.#controller);
  }

  /** Repeats the call of a response that has ended or broken, or passes the response and its end on. */
  #decide(held: HeldResponse, end: () => void): void {
    held.stopTimer();
    held.end = end;
    const report = this.#report ?? this.#finish({ ...this.#head!, body: held.json() });
    this.#repeat(held, report).catch((error) => this.#fail(error));
  }

  async #repeat(held: HeldResponse, report: Report): Promise<void> {
    if (this.#controller.aborted) throw this.#controller.reason;
    if (!this.#canRetry(report)) {
      this.#passOn(held);
      return;
    }
    await this.#finished; // The next attempt must not wait for this one.
    this.#rejection = report;
    this.#report = undefined;
    this.#call = undefined;
    await this.#start();
  }

  #passOn(held: HeldResponse): void {
    held.passOn(this.handler, this.#controller);
    this.#controller.pass(held.end);
  }
}

function textOf(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.join(', ') : value;
}

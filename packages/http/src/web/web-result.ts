import type { Decision } from '@rollgate/core';
import { refundInBackground } from '@rollgate/core/store';
import type { Gate } from '../gate/gate.js';
import { refundByRules } from '../refunds/refund-rules.js';
import { releaseInBackground } from '../refunds/release-in-background.js';
import { prefersText } from '../rejection/prefers-text.js';
import { type Rejection, rejectionBody, statusOf } from '../rejection/rejection.js';
import { type EarlyHeaders, PlainHeaders, type WebHeaders } from './web-headers.js';
import type { WebHost } from './web-host.js';
import { watchResponseEnd } from './web-response-end.js';

/** The result of a request. Return `response()` for a rejected one, and pass every other response to `withHeaders`. */
export type RateLimitResult = AllowedResult | RejectedResult;

interface Result {
  /** The limiter's decision; `undefined` for a request that `allowList` or `skip` exempts. */
  readonly decision: Decision | undefined;
  /**
   * Adds the headers of the decision to a response. When the response ends, it refunds the request if the options say so.
   * Send the response that it returns. It is the same one, unless its headers are immutable, it has no body, or its end has
   * to be watched. If you don't send it, cancel its body. Otherwise its slots stay taken until it is collected as garbage.
   */
  withHeaders(response: Response): Response;
  /** The same for a handler that may return no response, as after `server.upgrade` on Bun. Then it releases the slots. */
  withHeaders(response: Response | undefined): Response | undefined;
  /** Records that the request failed without a response, so that the platform responds with status 500. */
  fail(): void;
}

/** The result of a request to continue with. Exempt requests have it, too, and all requests in a dry run. */
export interface AllowedResult extends Result {
  /** Continue with the request. */
  readonly allowed: true;
}

/** The result of a rejected request. */
export interface RejectedResult extends Result {
  /** Return `response()` instead of a response to the request. */
  readonly allowed: false;
  readonly decision: Decision;
  /** The error that the option `message` is or returned, for error handlers; `undefined` for any other message. */
  readonly error: Error | undefined;
  /** Creates the response to the request. That of an error has its status and contains its message. */
  response(): Response;
}

/** The result for a request that is exempt from the limit. */
export class Exempt implements AllowedResult {
  readonly allowed = true;
  readonly decision: Decision | undefined = undefined;

  withHeaders(response: Response): Response;
  withHeaders(response: Response | undefined): Response | undefined;
  withHeaders(response: Response | undefined): Response | undefined {
    return response;
  }

  fail(): void {}
}

/** Adds headers to those of a response. */
type EditHeaders = (headers: WebHeaders) => void;

/** The result for an allowed request, and for every request in a dry run. */
export class Allowed<Call> extends Exempt {
  override readonly decision: Decision;
  readonly #gate: Gate<Call, Response, WebHeaders>;
  readonly #call: Call;
  readonly #request: Request;
  readonly #isDryRun: boolean;
  readonly #earlyHeaders: EarlyHeaders | undefined;
  readonly #host: WebHost<Call>;

  /** @param earlyHeaders Those that already describe the decision, on platforms that have them. */
  constructor(
    gate: Gate<Call, Response, WebHeaders>,
    decision: Decision,
    call: Call,
    request: Request,
    isDryRun: boolean,
    earlyHeaders: EarlyHeaders | undefined,
    host: WebHost<Call>,
  ) {
    super();
    this.#gate = gate;
    this.decision = decision;
    this.#call = call;
    this.#request = request;
    this.#isDryRun = isDryRun;
    this.#earlyHeaders = earlyHeaders;
    this.#host = host;
  }

  override withHeaders(response: Response): Response;
  override withHeaders(response: Response | undefined): Response | undefined;
  override withHeaders(response: Response | undefined): Response | undefined {
    if (response === undefined) {
      releaseSlots(this.#gate, this.decision);
      return undefined;
    }
    let edited = response;
    try {
      if (!this.#isDryRun) edited = this.#addHeaders(response);
    } catch (error) {
      this.fail(); // The app cannot send such a response.
      throw error;
    }
    const isSettledLater = this.#gate.options.refundRules !== undefined || this.#gate.hasSlots(this.decision);
    return isSettledLater && this.decision.allowed ? this.#watchEnd(edited) : edited;
  }

  #watchEnd(response: Response): Response {
    const [gate, call] = [this.#gate, this.#call];
    const onSent = (status: number | undefined) => settle(gate, this.decision, undefined, status, call, response);
    if (this.#host.onResponseEnd?.(call, onSent)) return response;
    let onEnd: OnEnd | undefined;
    this.#host.keepAlive?.(call, new Promise((resolve) => (onEnd = resolve)));
    // Bound, because a closure would refer to the call, and the call may refer to the response.
    const settleThis = (settle<Call>).bind(undefined, gate, this.decision, onEnd);
    return watchResponseEnd(response, this.#request, () => settleThis(response.status, call, response), settleThis);
  }

  #addHeaders(response: Response): Response {
    const gate = this.#gate;
    const earlyHeaders = this.#earlyHeaders;
    if (earlyHeaders === undefined || earlyHeaders.isReplacedBy(response)) {
      return editHeaders(response, (headers) => gate.writeHeaders(headers, this.decision));
    }
    // The names are added to those that the response exposes.
    return gate.options.exposeHeaders ? editHeaders(response, (headers) => gate.exposeHeaders(headers)) : response;
  }

  override fail(): void {
    const { refundRules, limiter } = this.#gate.options;
    const isRefunded = refundRules?.skipFailed && this.decision.allowed;
    const settled = [releaseSlots(this.#gate, this.decision), isRefunded && refundInBackground(limiter, this.decision)];
    this.#host.keepAlive?.(this.#call, Promise.all(settled));
  }
}

/** Ends the time that the platform keeps the code of a request running, once the promise has settled. */
type OnEnd = (settled: Promise<unknown>) => void;

function releaseSlots<Call>(gate: Gate<Call, Response, WebHeaders>, decision: Decision): Promise<void> | undefined {
  return gate.hasSlots(decision) ? releaseInBackground(gate.limiter, decision) : undefined;
}

/** @param status The status of the whole response; `undefined` if its end was not reached. Then it needs no response. */
function settle<Call>(
  gate: Gate<Call, Response, WebHeaders>,
  decision: Decision,
  onEnd: OnEnd | undefined,
  status?: number,
  call?: Call,
  response?: Response,
): void {
  const { refundRules, limiter } = gate.options;
  const released = releaseSlots(gate, decision);
  const refunded = refundRules && refundByRules(limiter, refundRules, decision, call!, response!, status);
  onEnd?.(Promise.all([released, refunded]));
}

/** The result for a rejected request. */
export class Rejected<Call> implements RejectedResult {
  readonly allowed = false;
  readonly decision: Decision;
  readonly #gate: Gate<Call, Response, WebHeaders>;
  readonly #request: Request;
  readonly #rejection: Rejection;
  readonly #earlyHeaders: WebHeaders | undefined;

  /** @param earlyHeaders Those that limiters before this one have written, on platforms that have them. */
  constructor(
    gate: Gate<Call, Response, WebHeaders>,
    decision: Decision,
    request: Request,
    rejection: Rejection,
    earlyHeaders: WebHeaders | undefined,
  ) {
    this.#gate = gate;
    this.decision = decision;
    this.#request = request;
    this.#rejection = rejection;
    this.#earlyHeaders = earlyHeaders;
  }

  get error(): Error | undefined {
    return 'error' in this.#rejection ? this.#rejection.error : undefined;
  }

  response(): Response {
    const [type, body] = this.#toBody();
    const headers = new PlainHeaders(this.#earlyHeaders);
    headers.set('content-type', type);
    this.#gate.writeHeaders(headers, this.decision);
    const isHead = this.#request.method === 'HEAD';
    if (isHead) headers.set('content-length', String(new TextEncoder().encode(body).length));
    const init = { status: statusOf(this.error) ?? this.#gate.statusCode, headers: headers.all };
    return new Response(isHead ? null : body, init);
  }

  withHeaders(response: Response): Response;
  withHeaders(response: Response | undefined): Response | undefined;
  withHeaders(response: Response | undefined): Response | undefined {
    return response && editHeaders(response, (headers) => this.#gate.writeHeaders(headers, this.decision));
  }

  fail(): void {}

  #toBody(): [type: string, body: string] {
    const rejection = this.#rejection;
    if ('json' in rejection) return [rejection.type, rejection.json];
    const text = 'error' in rejection ? rejection.error.message : rejection.text;
    if (prefersText(this.#request.headers.get('accept'))) return ['text/plain; charset=utf-8', `${text}\n`];
    const status = statusOf(this.error);
    const body = status === undefined ? this.#gate.serializeBody(text) : JSON.stringify(rejectionBody(status, text));
    return ['application/json; charset=utf-8', body];
  }
}

/** Returns the response with edited headers. It is the same one, unless its headers are immutable or it has no body. */
function editHeaders(response: Response, edit: EditHeaders): Response {
  const { headers, status } = response;
  const isCopyable = status >= 200; // Responses to upgrades and `Response.error()` are not.
  // An app can return a constant without a body for all requests, so its own headers stay as they are. Creating the stream
  // `body` takes long on some platforms, and most responses with one have a type.
  if (!isCopyable || headers.has('content-type') || response.body !== null) {
    try {
      edit(headers);
      return response;
    } catch {
      // The headers of `fetch`, `Response.redirect` and `Response.error` are immutable.
      if (!isCopyable) return response;
    }
  }
  const copy = new Response(response.body, response);
  edit(copy.headers);
  return copy;
}

import type { Decision } from '@rollgate/core';
import type { Gate } from '../gate/gate.js';
import type { AllowedOutcome, RejectedOutcome } from '../gate/outcome.js';
import { isRedirect, type RateLimitHeaders } from '../headers/rate-limit-headers.js';
import { renderRejection } from '../rejection/rejection.js';
import { type EarlyHeaders, editHeaders, PlainHeaders, type WebHeaders, type WebHost } from './web-host.js';
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
  // Without `strict`, TypeScript does not narrow a result by `!result.allowed`, so both kinds have the same members.
  /** Absent, because the request was not rejected. */
  readonly error?: undefined;
  /** Absent, because the request continues. */
  readonly response?: undefined;
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

/** The gate of a host whose responses are those of the Fetch standard. */
export type WebGate<Call> = Gate<Call, Response, WebHeaders>;

/** The result for all requests that are exempt from the limit. */
export const EXEMPT: AllowedResult = {
  allowed: true,
  decision: undefined,
  withHeaders: ((response) => response) as AllowedResult['withHeaders'],
  fail() {},
};

/**
 * Creates the result for an allowed request, and for every request in a dry run.
 *
 * @param earlyHeaders Those that already describe the decision, on platforms that have them.
 */
export function createAllowedResult<Call>(
  gate: WebGate<Call>,
  host: WebHost<Call>,
  call: Call,
  outcome: AllowedOutcome,
  earlyHeaders: EarlyHeaders | undefined,
): AllowedResult {
  const { decision, isDryRun, needsSettlement } = outcome;
  const fail = () => {
    if (needsSettlement) host.keepAlive?.(call, gate.settle(outcome, 500));
  };
  const withHeaders = (response: Response | undefined) => {
    if (response === undefined) {
      gate.release(outcome);
      return undefined;
    }
    let edited = response;
    try {
      if (!isDryRun) edited = addHeaders(response, gate.headers, outcome, earlyHeaders);
    } catch (error) {
      fail(); // The app cannot send such a response.
      throw error;
    }
    return needsSettlement ? watchEnd(edited, gate, host, call, outcome) : edited;
  };
  return { allowed: true, decision, withHeaders: withHeaders as AllowedResult['withHeaders'], fail };
}

function addHeaders(
  response: Response,
  headers: RateLimitHeaders<WebHeaders>,
  outcome: AllowedOutcome,
  early: EarlyHeaders | undefined,
): Response {
  const isRedirection = isRedirect(response.status);
  if (early !== undefined && isRedirection) for (const name of headers.namesOfDraft) early.delete(name);
  if (early === undefined || early.isReplacedBy(response)) {
    return editHeaders(response, (target) => headers.write(target, outcome, isRedirection));
  }
  // The names are added to those that the response exposes.
  return headers.areExposed ? editHeaders(response, (target) => headers.expose(target)) : response;
}

/** Settles the request when its response has ended. Returns the response to send. */
function watchEnd<Call>(
  response: Response,
  gate: WebGate<Call>,
  host: WebHost<Call>,
  call: Call,
  outcome: AllowedOutcome,
): Response {
  if (host.onResponseEnd?.(call, (status) => gate.settle(outcome, status, call, response))) return response;
  let onSettled!: (settled: Promise<unknown>) => void;
  const settled = new Promise((resolve) => (onSettled = resolve));
  host.keepAlive?.(call, settled);
  // Bound, because a closure would refer to the call, and the call may refer to the response.
  const settleThis = (settle<Call>).bind(undefined, gate, outcome, onSettled);
  const onComplete = () => settleThis(response.status, call, response);
  return watchResponseEnd(response, host.getRequest(call), onComplete, settleThis);
}

/** @param status The status of the whole response; `undefined` if its end was not reached. */
function settle<Call>(
  gate: WebGate<Call>,
  outcome: AllowedOutcome,
  onSettled: (settled: Promise<unknown>) => void,
  status?: number,
  call?: Call,
  response?: Response,
): void {
  onSettled(gate.settle(outcome, status, call, response));
}

/**
 * Creates the result for a rejected request.
 *
 * @param earlyHeaders Those that limiters before this one have written, on platforms that have them.
 */
export function createRejectedResult(
  outcome: RejectedOutcome,
  request: Request,
  headers: RateLimitHeaders<WebHeaders>,
  earlyHeaders: WebHeaders | undefined,
): RejectedResult {
  const { decision, rejection } = outcome;
  const withHeaders = (response: Response | undefined) =>
    response && editHeaders(response, (target) => headers.write(target, outcome, isRedirect(response.status)));
  return {
    allowed: false,
    decision,
    error: 'error' in rejection ? rejection.error : undefined,
    response() {
      const { status, type, body } = renderRejection(rejection, request.headers.get('accept'));
      const own = new PlainHeaders(earlyHeaders);
      own.set('content-type', type);
      headers.write(own, outcome);
      const isHead = request.method === 'HEAD';
      if (isHead) own.set('content-length', String(new TextEncoder().encode(body).length));
      return new Response(isHead ? null : body, { status, headers: own.all });
    },
    withHeaders: withHeaders as RejectedResult['withHeaders'],
    fail() {},
  };
}

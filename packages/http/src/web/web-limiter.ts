import type { Awaitable, Decision, Limits, RateLimiter } from '@rollgate/core';
import { optionError, refundInBackground, sleep } from '@rollgate/core/store';
import { Gate } from '../gate/gate.js';
import type { AllowedOutcome, Outcome } from '../gate/outcome.js';
import type { HttpOptions } from '../options/options.js';
import {
  createAllowedResult,
  createRejectedResult,
  EXEMPT,
  type RateLimitResult,
  type WebGate,
} from './rate-limit-result.js';
import { WEB_HEADERS, type WebHost } from './web-host.js';

/** The message for a host that needs the address without a function that returns it. */
const NO_ADDRESS =
  'Expected `address` or `key`, got neither. Choose the function of your platform, such as `denoAddress`. An `allowList` needs it, too';

/**
 * Limits requests on a host whose responses are values.
 *
 * @example
 * ```ts
 * import { type WebHost, WebLimiter } from '@rollgate/http';
 *
 * const WEB: WebHost<Request> = {
 *   name: 'rateLimit',
 *   ownOptions: [],
 *   resetUnit: 'delta',
 *   getRequest: (request) => request,
 *   getClientAddress: (request) => request.headers.get('x-client-address') ?? undefined, // Set by the platform.
 *   getRequestHeader: (request, name) => request.headers.get(name),
 *   isDisconnected: (request) => request.signal.aborted,
 * };
 * const webLimiter = new WebLimiter(WEB, { limit: 1, window: '1m' });
 *
 * async function handle(request: Request): Promise<Response> {
 *   const result = await webLimiter.check(request);
 *   return result.allowed ? result.withHeaders(new Response('hello')) : result.response();
 * }
 * const headers = { 'X-Client-Address': '192.0.2.1' };
 * (await handle(new Request('http://localhost/', { headers }))).status; // => 200
 * (await handle(new Request('http://localhost/', { headers }))).status; // => 429
 * ```
 */
export class WebLimiter<Call> {
  readonly #host: WebHost<Call>;
  readonly #gate: WebGate<Call>;

  /** @throws TypeError, RangeError with the name of the invalid option. */
  constructor(host: WebHost<Call>, options: HttpOptions<Call, Limits, Response>) {
    const { getClientAddress = () => undefined } = host;
    this.#host = host;
    this.#gate = new Gate({ ...host, ...WEB_HEADERS, getClientAddress }, options);
    if (host.getClientAddress === undefined) requireAddress(options);
  }

  /** The limiter that decides the requests. */
  get limiter(): RateLimiter {
    return this.#gate.limiter;
  }

  /**
   * Checks a request. With a queue, it resolves at the request's start. It returns a promise only when it has to wait for
   * something, because each promise costs as much as the decision.
   *
   * @throws The error of an option function. If the client disconnects before the start, the reason of the request's signal.
   * If it has disconnected before and has no address any more, an `AbortError`. A promise rejects with them.
   */
  check(call: Call): Awaitable<RateLimitResult> {
    return this.#gate.judge(call, undefined, (outcome) => this.#apply(outcome, call));
  }

  #apply(outcome: Outcome, call: Call): Awaitable<RateLimitResult> {
    const [host, gate] = [this.#host, this.#gate];
    switch (outcome.kind) {
      case 'allowed':
        return this.#allow(outcome, call);
      case 'rejected':
        return createRejectedResult(outcome, host.getRequest(call), gate.headers, host.getEarlyHeaders?.(call));
      case 'failed':
        throw outcome.error;
      case 'disconnected':
        if (!gate.options.dryRun) throw outcome.error;
    }
    return EXEMPT;
  }

  #allow(outcome: AllowedOutcome, call: Call): Awaitable<RateLimitResult> {
    if (outcome.isDryRun) return createAllowedResult(this.#gate, this.#host, call, outcome, undefined);
    if (outcome.decision.delayMs === 0) return this.#start(outcome, call);
    const started = waitForStart(this.limiter, outcome.decision, this.#host.getRequest(call).signal);
    this.#host.keepAlive?.(
      call,
      started.catch(() => {}),
    );
    return started.then(() => this.#start(outcome, call));
  }

  #start(outcome: AllowedOutcome, call: Call): RateLimitResult {
    const earlyHeaders = this.#host.getEarlyHeaders?.(call);
    const allowed = createAllowedResult(this.#gate, this.#host, call, outcome, earlyHeaders);
    try {
      if (earlyHeaders) this.#gate.headers.write(earlyHeaders, outcome, false, true);
    } catch (thrown) {
      allowed.fail();
      throw thrown;
    }
    return allowed;
  }
}

/** @throws TypeError if `address` is absent although the limiter needs the address. */
function requireAddress<Call>(options: HttpOptions<Call, Limits, Response> & { readonly address?: unknown }): void {
  const { address, key, allowList } = options;
  if (address !== undefined || (key !== undefined && !allowList)) return;
  throw optionError(NO_ADDRESS);
}

/** Waits until a request in a queue starts. If the client disconnects before, it refunds the request and rejects. */
function waitForStart(limiter: RateLimiter, decision: Decision, signal: AbortSignal | undefined): Promise<void> {
  return sleep(decision.delayMs, limiter.clock, signal).catch(async (reason) => {
    await refundInBackground(limiter, decision); // Until it rejects, the platform keeps this code running.
    throw reason;
  });
}

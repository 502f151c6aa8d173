import type { Awaitable, Decision, Limits, RateLimiter } from '@rollgate/core';
import { mapAwaitable, refundInBackground, scheduleAfter } from '@rollgate/core/store';
import type { Host } from '../base/host.js';
import { Gate, type Outcome } from '../gate/gate.js';
import type { HttpOptions } from '../options/options.js';
import type { WebHeaders } from './web-headers.js';
import type { WebHost } from './web-host.js';
import { Allowed, Exempt, type RateLimitResult, Rejected } from './web-result.js';

const HEADER_WRITER: Pick<Host<never, WebHeaders>, 'setHeader' | 'getHeader' | 'lowercaseHeaders'> = {
  lowercaseHeaders: true,
  setHeader: (headers, name, value) => headers.set(name, value),
  getHeader: (headers, name) => headers.get(name) ?? undefined,
};

type AllowedOutcome = Extract<Outcome, { readonly kind: 'allowed' }>;

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
   * Decides a request. With a queue, it resolves at the request's slot. It returns a promise only when it has to wait for
   * something, because each promise costs as much as the decision.
   *
   * @throws The error of an option function. If the client disconnects before the slot, the reason of the request's signal. If
   * it has disconnected before and has no address any more, an `AbortError`. A promise rejects with them.
   */
  check(call: Call): Awaitable<RateLimitResult> {
    return mapAwaitable(this.#gate.judge(call), (outcome) => this.#toResult(call, outcome));
  }

  #toResult(call: Call, outcome: Outcome): Awaitable<RateLimitResult> {
    if (outcome.kind === 'exempt') return new Exempt();
    const { decision } = outcome;
    const request = this.#host.getRequest(call);
    if (outcome.kind === 'rejected') {
      return new Rejected(this.#gate, decision, request, outcome.rejection, this.#host.getEarlyHeaders?.(call));
    }
    if (outcome.isDryRun || decision.delayMs === 0) return this.#allow(call, request, outcome);
    const slot = waitForSlot(this.limiter, decision, request.signal);
    this.#host.keepAlive?.(
      call,
      slot.catch(() => {}),
    );
    return slot.then(() => this.#allow(call, request, outcome));
  }

  #allow(call: Call, request: Request, { decision, isDryRun }: AllowedOutcome): RateLimitResult {
    const earlyHeaders = isDryRun ? undefined : this.#host.getEarlyHeaders?.(call);
    if (earlyHeaders) this.#gate.writeHeaders(earlyHeaders, decision, true);
    return new Allowed(this.#gate, decision, call, request, isDryRun, earlyHeaders, this.#host);
  }
}

/** Waits for a request's slot in a queue. If the client disconnects before, it refunds the slot and rejects. */
function waitForSlot(limiter: RateLimiter, decision: Decision, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = () => {
      cancel();
      // Until it rejects, the platform keeps this code running.
      refundInBackground(limiter, decision).then(() => reject(signal!.reason));
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

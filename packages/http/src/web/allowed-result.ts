import type { Decision } from '@rollgate/core';
import type { Gate } from '../gate/gate.js';
import type { AllowedOutcome } from '../gate/outcome.js';
import { isRedirect } from '../headers/rate-limit-headers.js';
import type { AllowedResult } from './rate-limit-result.js';
import { type EarlyHeaders, editHeaders, type WebHeaders } from './web-headers.js';
import type { WebHost } from './web-host.js';
import { watchResponseEnd } from './web-response-end.js';

/** The gate of a host whose responses are those of the Fetch standard. */
export type WebGate<Call> = Gate<Call, Response, WebHeaders>;

/** The result for all requests that are exempt from the limit. */
export const EXEMPT: AllowedResult = {
  allowed: true,
  decision: undefined,
  withHeaders: ((response) => response) as AllowedResult['withHeaders'],
  fail() {},
};

/** The result for an allowed request, and for every request in a dry run. */
export class Allowed<Call> implements AllowedResult {
  readonly allowed = true;
  readonly decision: Decision;
  readonly #gate: WebGate<Call>;
  readonly #host: WebHost<Call>;
  readonly #call: Call;
  readonly #outcome: AllowedOutcome;
  readonly #earlyHeaders: EarlyHeaders | undefined;

  /** @param earlyHeaders Those that already describe the decision, on platforms that have them. */
  constructor(
    gate: WebGate<Call>,
    host: WebHost<Call>,
    call: Call,
    outcome: AllowedOutcome,
    earlyHeaders: EarlyHeaders | undefined,
  ) {
    this.decision = outcome.decision;
    this.#gate = gate;
    this.#host = host;
    this.#call = call;
    this.#outcome = outcome;
    this.#earlyHeaders = earlyHeaders;
  }

  withHeaders(response: Response): Response;
  withHeaders(response: Response | undefined): Response | undefined;
  withHeaders(response: Response | undefined): Response | undefined {
    if (response === undefined) {
      this.#gate.release(this.#outcome);
      return undefined;
    }
    let edited = response;
    try {
      if (!this.#outcome.isDryRun) edited = this.#addHeaders(response);
    } catch (error) {
      this.fail(); // The app cannot send such a response.
      throw error;
    }
    return this.#outcome.needsSettlement ? this.#watchEnd(edited) : edited;
  }

  fail(): void {
    if (!this.#outcome.needsSettlement) return;
    this.#host.keepAlive?.(this.#call, this.#gate.settle(this.#outcome, 500));
  }

  #addHeaders(response: Response): Response {
    const { headers } = this.#gate;
    const early = this.#earlyHeaders;
    const isRedirection = isRedirect(response.status);
    if (early !== undefined && isRedirection) for (const name of headers.namesOfDraft) early.delete(name);
    if (early === undefined || early.isReplacedBy(response)) {
      return editHeaders(response, (target) => headers.write(target, this.#outcome, isRedirection));
    }
    // The names are added to those that the response exposes.
    return headers.areExposed ? editHeaders(response, (target) => headers.expose(target)) : response;
  }

  #watchEnd(response: Response): Response {
    const [gate, host, call, outcome] = [this.#gate, this.#host, this.#call, this.#outcome];
    if (host.onResponseEnd?.(call, (status) => gate.settle(outcome, status, call, response))) return response;
    let onSettled!: (settled: Promise<unknown>) => void;
    const settled = new Promise((resolve) => (onSettled = resolve));
    host.keepAlive?.(call, settled);
    // Bound, because a closure would refer to the call, and the call may refer to the response.
    const settleThis = (settle<Call>).bind(undefined, gate, outcome, onSettled);
    const onComplete = () => settleThis(response.status, call, response);
    return watchResponseEnd(response, host.getRequest(call), onComplete, settleThis);
  }
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

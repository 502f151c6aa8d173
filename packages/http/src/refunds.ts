import type { Awaitable, Decision, RateLimiter } from '@rollgate/core';
import { isThenable, refundInBackground, validate } from '@rollgate/core/store';
import { type NodeResponse, whenAnswered } from './answer.js';
import { inTime } from './in-time.js';

/** Which requests are to count only until they are answered. */
export interface RefundRules<Request, Response> {
  readonly skipSuccessful: boolean;
  readonly skipFailed: boolean;
  readonly skipAborted: boolean;
  /** By default one whose status is below 400. */
  readonly wasSuccessful: ((request: Request, response: Response) => Awaitable<boolean>) | undefined;
  /** How long `wasSuccessful` may take. */
  readonly timeoutMs: number;
  /** Told when `wasSuccessful` fails: what the request took stays then. */
  readonly onError: (thrown: unknown) => void;
}

/**
 * Refunds exactly what this request took, if it turns out to be one that does not count. An aborted request is neither
 * successful nor failed: otherwise a client could choose to be refunded.
 */
export function refundWhenAnswered<Request, Response>(
  limiter: RateLimiter,
  rules: RefundRules<Request, Response>,
  nodeResponse: NodeResponse,
  request: Request,
  response: Response,
  decision: Decision,
): void {
  const settle = (isSuccess: boolean) => {
    if (isSuccess ? rules.skipSuccessful : rules.skipFailed) refundInBackground(limiter, decision);
  };
  const judge = () => {
    const said =
      rules.wasSuccessful === undefined ? nodeResponse.statusCode < 400 : rules.wasSuccessful(request, response);
    if (!isThenable(said)) settle(validate.boolean('requestWasSuccessful(request, response)', said));
    else {
      inTime('requestWasSuccessful', said, rules.timeoutMs)
        .then((later) => settle(validate.boolean('requestWasSuccessful(request, response)', later)))
        .catch(rules.onError);
    }
  };
  whenAnswered(nodeResponse, (isWhole) => {
    if (!isWhole) {
      if (rules.skipAborted) refundInBackground(limiter, decision);
      return;
    }
    if (!rules.skipSuccessful && !rules.skipFailed) return;
    try {
      judge();
    } catch (thrown) {
      rules.onError(thrown);
    }
  });
}

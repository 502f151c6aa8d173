import type { Decision, RateLimiter } from '@rollgate/core';
import { type RefundRules, refundByRules } from '../refunds/refund-rules.js';
import type { NodeResponse } from './framework.js';
import { onResponseFinished } from './response-lifecycle.js';

/**
 * Refunds exactly the units of this request, if the rules exempt it once its response has ended. An aborted request is
 * neither successful nor failed. Otherwise a client could choose to be refunded.
 */
export function refundAfterResponse<Request, Response>(
  limiter: RateLimiter,
  rules: RefundRules<Request, Response>,
  nodeResponse: NodeResponse,
  request: Request,
  response: Response,
  decision: Decision,
): void {
  onResponseFinished(nodeResponse, (isComplete) => {
    refundByRules(limiter, rules, decision, request, response, isComplete ? nodeResponse.statusCode : undefined);
  });
}

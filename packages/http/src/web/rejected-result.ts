import type { RejectedOutcome } from '../gate/outcome.js';
import { isRedirect, type RateLimitHeaders } from '../headers/rate-limit-headers.js';
import { renderRejection } from '../rejection/render-rejection.js';
import type { RejectedResult } from './rate-limit-result.js';
import { editHeaders, PlainHeaders, type WebHeaders } from './web-headers.js';

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

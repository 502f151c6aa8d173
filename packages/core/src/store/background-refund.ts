import type { Decision } from '../decision/decision.js';
import { identify, type LimiterEvent, type LimiterIdentity, refundFailures } from '../events/events.js';
import type { Coded } from '../validation/error-codes.js';
import { messageOf } from '../validation/validate.js';
import { warnOnce } from '../validation/warn-once.js';

/** The part of a `RateLimiter` that refunds. */
export interface Refunder extends LimiterIdentity {
  refund(decision: Decision): Promise<void>;
}

/** Published on the channel `rollgate:refund:failure` when a refund fails that no caller waits for. */
export interface RefundFailure extends LimiterEvent<object> {
  /** The decision that stays charged. */
  readonly decision: Decision;
  /** The reason with which the refund's promise rejected. */
  readonly error: unknown;
}

/**
 * Refunds a decision that no caller waits for: after the response, or for a client that has disconnected. It never
 * throws. Without a subscriber, the first failure becomes a process warning.
 *
 * @returns A promise that resolves when the refund has succeeded or failed.
 */
export function refundInBackground(limiter: Refunder, decision: Decision): Promise<void> {
  return limiter.refund(decision).catch((error: unknown) => {
    if (refundFailures.hasSubscribers) {
      const failure: RefundFailure = { ...identify(limiter), decision, error };
      refundFailures.publish(failure);
    } else if ((error as Coded | undefined)?.code !== 'ERR_ROLLGATE_STORE_FAILED') {
      // The outage behind the other errors has an event and a warning already.
      const message = `A refund of the limiter \`${limiter.name}\` failed, so the request stays charged: ${messageOf(error)}`;
      warnOnce('ROLLGATE_REFUND_FAILED', message);
    }
  });
}

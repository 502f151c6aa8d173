import type { Cost, Decision } from '@rollgate/core';
import type { ParsedLimits } from '@rollgate/core/store';
import type { Rejection } from '../rejection/rejection.js';

/**
 * What becomes of a request. {@link Gate.judge} computes it once, and a host applies it:
 *
 * | outcome        | `HttpLimiter`, for Node's responses                       | `WebLimiter`, for those of the Fetch standard |
 * | -------------- | --------------------------------------------------------- | --------------------------------------------- |
 * | `exempt`       | continues                                                 | continues                                     |
 * | `allowed`      | writes headers, waits for the start, continues            | waits for the start, continues, adds headers  |
 * | `rejected`     | ends a response that has started, or sends the rejection  | returns the rejection                         |
 * | `responded`     | frees what the request took, and keeps its units          | does not occur                                |
 * | `failed`       | passes the error to the framework's error handling        | throws the error                              |
 * | `disconnected` | drops the request                                         | throws the error, or continues in a dry run   |
 */
export type Outcome =
  /** Continue. `allowList` or `skip` exempts the request, or a function has failed in a dry run. */
  | {
      /** The request continues without a decision. */
      readonly kind: 'exempt';
    }
  /** Continue, after the decision's `delayMs` unless this is a dry run. */
  | {
      /** The request continues. */
      readonly kind: 'allowed';
      /** The decision, which the handler can read. In a dry run, it may be a rejection. */
      readonly decision: Decision;
      /** The limits that made the decision. */
      readonly limits: ParsedLimits;
      /** The units that the request takes of them. */
      readonly cost: Cost;
      /** Whether the option `dryRun` lets the request continue without headers and delays. */
      readonly isDryRun: boolean;
      /** Whether the decision holds slots or reserved units, which `Gate.settle` and `Gate.release` release. */
      readonly hasLeases: boolean;
      /** Whether the host has to call `Gate.settle` when the response has ended. */
      readonly needsSettlement: boolean;
    }
  /** Respond with the rejection. */
  | {
      /** The request ends here. */
      readonly kind: 'rejected';
      /** The decision, with the wait and the violated limits. */
      readonly decision: Decision;
      /** The limits that made the decision. */
      readonly limits: ParsedLimits;
      /** The units that the request takes of them. */
      readonly cost: Cost;
      /** What to respond. */
      readonly rejection: Rejection;
    }
  /** Do nothing more. Other code, such as a timeout, has responded before there was an outcome. */
  | {
      /** Nothing is published or sent. */
      readonly kind: 'responded';
      /** What the limiter has allowed too late, if it has. */
      readonly allowed: AllowedOutcome | undefined;
    }
  /** Pass the error on, so that no failure of an option function or the store allows a request by accident. */
  | {
      /** The request fails. */
      readonly kind: 'failed';
      /** What was thrown, as an error. */
      readonly error: Error;
    }
  /** Drop the request. Its client has disconnected, so it has no address that could be counted. */
  | {
      /** No response can reach the client. */
      readonly kind: 'disconnected';
      /** An `AbortError`, for a host that has to return or throw something. A dry run fails no request. */
      readonly error: Error;
    };

export type AllowedOutcome = Extract<Outcome, { readonly kind: 'allowed' }>;
export type RejectedOutcome = Extract<Outcome, { readonly kind: 'rejected' }>;

/** Returns the outcome of a request to which other code has responded after the gate had judged it. */
export function toResponded(outcome: Outcome): Outcome {
  if (outcome.kind === 'responded') return outcome;
  return { kind: 'responded', allowed: outcome.kind === 'allowed' ? outcome : undefined };
}

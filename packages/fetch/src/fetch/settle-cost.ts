import type { Clock } from '@rollgate/core';
import { invalidNumber, invalidOption, MAX_TIMER_MS, scheduleAfter, startBackgroundTimer } from '@rollgate/core/store';
import type { CallRequest } from '../dialects/dialect.js';
import type { CallCost, FetchOptions } from '../options/fetch-options.js';
import { warnOfError } from '../warn-of-error.js';
import { copyForSettle, type SettleCopy } from './copy-for-settle.js';

type Settle = NonNullable<FetchOptions['settle']>;

/** How long `settle` may take, and by which clock. */
interface Bound {
  readonly maxBlockMs: number;
  readonly clock: Clock | undefined;
}

/**
 * Returns the actual cost of a call. If `settle` fails or takes too long, the estimate stays, and the process emits one warning. It
 * emits none if the body has ended early.
 */
export async function settleCost(
  settle: Settle,
  response: Response,
  request: CallRequest,
  bound: Bound,
): Promise<CallCost> {
  let copy: SettleCopy | undefined;
  try {
    copy = copyForSettle(response);
    return validateCost('settle', await withinBound(settle(copy.response, request), bound));
  } catch (error) {
    if (copy?.isBroken()) return {};
    const message = 'The option `settle` of createFetch failed, so a call counts as estimated';
    warnOfError('ROLLGATE_SETTLE_FAILED', message, error);
    return {};
  } finally {
    copy?.end();
  }
}

/** Rejects if `settle` takes too long. A call must not stay open forever, because it may have slots. */
async function withinBound(cost: ReturnType<Settle>, { maxBlockMs, clock }: Bound): Promise<CallCost> {
  let cancelTimer = () => {};
  const timeout = new Promise<never>((_, reject) => {
    cancelTimer = startTimer(maxBlockMs, () => reject(timeoutError(maxBlockMs)), clock);
  });
  return Promise.race([cost, timeout]).finally(() => cancelTimer());
}

/** A timer of the real time that keeps no process alive. */
function startTimer(delayMs: number, onEnd: () => void, clock: Clock | undefined): () => void {
  if (clock !== undefined) return scheduleAfter(delayMs, onEnd, clock);
  const timer = startBackgroundTimer(onEnd, Math.min(delayMs, MAX_TIMER_MS));
  return () => clearTimeout(timer);
}

function timeoutError(ms: number): Error {
  return new DOMException(`it has not returned after ${ms} ms (\`maxBlock\`)`, 'TimeoutError');
}

/**
 * Returns a cost that a function of the user has returned, or nothing if it has returned nothing.
 *
 * @throws TypeError, RangeError naming the invalid units.
 */
export function validateCost(name: string, cost: unknown): CallCost {
  if (cost === undefined) return {};
  if (typeof cost !== 'object' || cost === null) {
    throw invalidOption(`${name}()`, 'a record of units such as `{ daily: 412 }`', cost);
  }
  const invalid = Object.entries(cost).find(
    ([, units]) => units !== undefined && !(Number.isSafeInteger(units) && units >= 0),
  );
  if (invalid === undefined) return cost as CallCost;
  throw invalidNumber(`${name}().${invalid[0]}`, 'a safe integer from 0', invalid[1]);
}

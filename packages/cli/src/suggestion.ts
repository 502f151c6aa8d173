import type { Span } from './calendar-span.js';

/** The number of requests and callers that a limit would reject. */
export interface Rejections {
  readonly limit: number;
  readonly rejectedRequests: number;
  readonly rejectedCallers: number;
}

/** The caller with the highest demand in a window. */
export interface Heaviest {
  readonly key: string;
  /** Its highest demand: units within one window. */
  readonly demand: number;
  /**
   * The smaller limit for the same share of requests if the log did not contain this caller, and what it rejects with it.
   * `undefined` if it is unknown.
   */
  readonly withoutIt: Rejections | undefined;
}

/** The suggested limits for one window, or for the periods of a calendar. */
export interface Suggestion {
  readonly span: Span;
  /** The smallest limit that rejects at most the given share of the requests. */
  readonly forRequests: Rejections;
  /** The smallest limit that affects at most the given share of the callers. */
  readonly forCallers: Rejections;
  /** The smallest limit that rejects nothing. */
  readonly forAll: Rejections;
  /** The limits above and some in between, ascending. */
  readonly curve: readonly Rejections[];
  readonly heaviest: Heaviest;
}

/** Returns 1, 2, 5, 10, 20, 50 and so on, up to the last limit that rejects anything. */
export function roundLimits(last: number): number[] {
  const limits: number[] = [];
  for (let power = 1; power < last; power *= 10) limits.push(power, 2 * power, 5 * power);
  return limits.filter((limit) => limit < last);
}

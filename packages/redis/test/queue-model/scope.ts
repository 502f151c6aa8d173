/** What the explorer visits. Times are ticks. */
export interface Scope {
  readonly limit: number;
  /** The limit of each rule, if they differ. */
  readonly limits?: readonly number[];
  /** The window of each rule, if they differ. Then `window` is the longest. */
  readonly windows?: readonly number[];
  /** The time between two starts of each rule that is a leaky bucket, and 0 for a rolling window. The limit is its capacity. */
  readonly intervals?: readonly number[];
  readonly window: number;
  readonly horizon: number;
  readonly lease: number;
  readonly lastTick: number;
  /** The last tick at which a caller arrives. */
  readonly lastArrival: number;
  /** For each caller, its cost for each limit. */
  readonly costs: readonly (readonly number[])[];
  /** The process of each caller. By default, each has its own. */
  readonly processes?: readonly number[];
  /** Whether messages may be lost and late, and processes may be stopped at any time. */
  readonly hasFaults: boolean;
  readonly crashes?: number;
  readonly aborts?: number;
  readonly refunds?: number;
  /** How many operations fail without an effect when a caller leaves, so that it leaves later. */
  readonly failedLeaves?: number;
  /** How many messages arrive twice. */
  readonly repeatedMessages?: number;
  /** How many replies to arrivals are lost, so that the client sends the operation again later. */
  readonly lostReplies?: number;
  /** How many callers that were too late return in one script and free their units in a later one. */
  readonly splitBatches?: number;
  /** Plain checks of one unit of all limits: behind the callers, or by a limiter that knows no queues. */
  readonly checks?: number;
  readonly overtakingChecks?: number;
  /** Whether the server knows who receives messages. */
  readonly countsReceivers?: boolean;
  /** Whether owners receive messages at all. */
  readonly getsMessages?: boolean;
  /** Whether an action may start after the time of its turn, which breaks the guarantee. */
  readonly mayStartLate?: boolean;
}

export function limitOf({ limit, limits }: Scope, rule: number): number {
  return limits?.[rule] ?? limit;
}

/** 0 for a rolling window. */
export function intervalOf({ intervals }: Scope, rule: number): number {
  return intervals?.[rule] ?? 0;
}

/** The process of a caller. */
export function processOf({ processes }: Scope, index: number): number {
  return processes?.[index] ?? index;
}

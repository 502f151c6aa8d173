/** A call, as far as dialects look at it. */
export interface CallRequest {
  /** The method in upper case, such as `'GET'`. */
  readonly method: string;
  /** The address of the request. */
  readonly url: URL;
}

/** What a dialect reads of a response. */
export interface ResponseHead {
  /** The call that got this response. */
  readonly request: CallRequest;
  /** The status code. */
  readonly status: number;
  /** Returns the value of a header, whose name is in lower case. Several lines are joined by `', '`. */
  header(name: string): string | undefined;
  /** The time of the server's clock in milliseconds since the Unix epoch, as far as its `Date` headers show it. */
  readonly serverMs: number;
  /** The parsed JSON of the body, if the dialect has asked for it. */
  readonly body?: unknown;
}

/** What a response reports about one quota. */
export interface QuotaReport {
  /** What the quota counts, such as `'requests'` or `'tokens'`. A name in the record that the option `cost` returns. */
  readonly unit: string;
  /** The name of the quota, if the server names it. Calls of several routes may share it. */
  readonly name?: string | undefined;
  /** The units of the full quota, if the server reports them. */
  readonly limit?: number | undefined;
  /** The units that are left. */
  readonly remaining: number;
  /** Milliseconds until the quota resets. `kind` has the meaning. */
  readonly resetMs: number;
  /**
   * What is free after `resetMs`:
   *
   * - `'window'`: the full quota, at once.
   * - `'refill'`: the full quota. It grows continuously until then.
   * - `'rolling'`: at least one unit. One call has to show how many more.
   */
  readonly kind: 'window' | 'refill' | 'rolling';
}

/** What a response reports about the limits of its server. */
export interface ResponseReport {
  /** The quotas that the response reports. */
  readonly quotas?: readonly QuotaReport[] | undefined;
  /** Whether the server rejected the call because of a limit. By default, the status 429 means that. */
  readonly isRejected?: boolean | undefined;
  /** For how many milliseconds the server wants no call. */
  readonly retryAfterMs?: number | undefined;
  /**
   * Which calls have to wait for `retryAfterMs`: this one, those of the same route, or all of the same bucket. By default
   * those of the same route.
   */
  readonly scope?: 'call' | 'route' | 'bucket' | undefined;
  /** `false` if the server forbids to repeat the call. */
  readonly mayRetry?: boolean | undefined;
  /** The actual cost of the call by unit, if the server reports it. */
  readonly cost?: Readonly<Record<string, number>> | undefined;
}

/**
 * How the responses of an API report its limits. A dialect is data and pure functions, so write your own for an API that none
 * of the others knows. Its functions must not throw. What they read may be malformed.
 */
export interface Dialect {
  /** The name of the dialect, for events. */
  readonly name: string;
  /** The units of the quotas that responses may report. Empty if they never report any. */
  readonly units: readonly string[];
  /**
   * Returns the name of the quota that a call uses, as far as the request shows it. Without it, all calls of a bucket use the
   * same one.
   */
  routeOf?(request: CallRequest): string;
  /** Returns whether {@link read} needs the parsed body of a response, which then has to be JSON. */
  readsBody?(response: ResponseHead): boolean;
  /** Returns what a response reports, or `undefined` if it reports nothing in this dialect. */
  read(response: ResponseHead): ResponseReport | undefined;
}

// What the server sends to the page. All times are those of the server, and on Redis those of its clock, so that several
// servers agree.

import type { Settings } from './settings.js';

/** One request with its decision. */
export interface Attempt {
  readonly id: string;
  /** The time of the decision. */
  readonly atMs: number;
  /** The delay of an allowed request until its slot. 0 for all algorithms except the leaky bucket. */
  readonly delayMs: number;
  readonly allowed: boolean;
  /** Whether a fixed window with the same settings allowed it. */
  readonly fixedAllowed: boolean;
  readonly limit: number;
  readonly remaining: number;
  /** Whether the server's memory decided, because Redis did not respond. */
  readonly degraded: boolean;
}

/** What all pages and servers share, besides the attempts. */
export interface State {
  readonly settings: Settings;
  /** Attempts before this moment no longer count, because the window or the algorithm changed then. */
  readonly countedFromMs: number;
}

/** The outcomes of all attempts since the last reset, including those that are no longer kept. */
export interface Totals {
  readonly allowed: number;
  readonly rejected: number;
}

/** When a request would be allowed, if no other one precedes it. */
export interface Next {
  /** When it is allowed. In the past if it is allowed now. */
  readonly allowedAtMs: number;
  /** When it starts. Only a queue starts it later than `allowedAtMs`. */
  readonly startsAtMs: number;
}

/** An update from the server: the whole state, and the attempts that the page does not have yet. */
export interface Update extends Totals {
  readonly nowMs: number;
  readonly state: State;
  readonly next: Next | undefined;
  /** Whether `attempts` replace those that the page has. */
  readonly isWhole: boolean;
  readonly attempts: readonly Attempt[];
}

/** The response to `GET /records`. */
export interface Records extends Totals {
  readonly state: State;
  readonly attempts: readonly Attempt[];
}

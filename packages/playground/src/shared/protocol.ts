// What goes over the wire from the server to the page. All times are the server's: on Redis those of Redis's clock, so that
// several servers tell the same.

import type { Settings } from './settings.js';

/** One request, and what was decided about it. */
export interface Attempt {
  readonly id: string;
  /** When it was decided. */
  readonly atMs: number;
  /** How long a request that was let in is held until its turn; 0 for all algorithms but the leaky bucket. */
  readonly delayMs: number;
  readonly allowed: boolean;
  /** What a fixed window of the same numbers said of it. */
  readonly fixedAllowed: boolean;
  readonly limit: number;
  readonly remaining: number;
  /** Redis did not respond: this process's memory decided in its place. */
  readonly degraded: boolean;
}

/** What all pages and servers have in common beside the attempts. */
export interface State {
  readonly settings: Settings;
  /** Attempts before this moment are counted no more: the window or the algorithm was changed then. */
  readonly countedFromMs: number;
}

/** How the attempts ended since all was forgotten, those that are kept no more included. */
export interface Totals {
  readonly allowed: number;
  readonly rejected: number;
}

/** What a request would meet that came now, and nobody before it. */
export interface Next {
  /** When it would be let in; in the past for now. */
  readonly allowedAtMs: number;
  /** When it would have its turn: later than `allowedAtMs` in a queue only. */
  readonly turnAtMs: number;
}

/** What the server's events say: each the whole state, and the attempts that the page does not know yet. */
export interface Update extends Totals {
  readonly nowMs: number;
  readonly state: State;
  readonly next: Next | undefined;
  /** Whether `attempts` are all there are to show, in the place of what the page had. */
  readonly isWhole: boolean;
  readonly attempts: readonly Attempt[];
}

/** What `GET /records` answers. */
export interface Records extends Totals {
  readonly state: State;
  readonly attempts: readonly Attempt[];
}

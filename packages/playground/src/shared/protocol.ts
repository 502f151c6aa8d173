// What the engine sends to the page. All times are those of the engine, and on Redis those of its clock, so that several
// servers agree.

import type { RowName, Scenario, Settings } from './settings.js';

/** By row: the delay of an allowed request until it starts, in milliseconds, or `null` if it was rejected. */
export type Delays<Name extends RowName = RowName> = Readonly<Record<Name, number | null>>;

/** One request with its decisions. */
export interface Attempt<Name extends RowName = RowName> {
  readonly id: string;
  /** The run of a scenario that sent it. Absent for any other request. */
  readonly run?: string | undefined;
  /** The time of the decision. */
  readonly atMs: number;
  /** The delay of an allowed request until its start. 0 for all algorithms except the leaky bucket. */
  readonly delayMs: number;
  readonly allowed: boolean;
  /** What each row decided, including that of the real limit. */
  readonly delays: Delays<Name>;
  readonly limit: number;
  readonly windowMs: number;
  readonly minDifferenceMs: number;
  /** When all limits had last started over. */
  readonly countedFromMs: number;
  readonly remaining: number;
  /** Whether the server's memory decided, because Redis did not respond. */
  readonly degraded: boolean;
}

/** What all pages and servers share, besides the attempts. */
export interface State {
  readonly settings: Settings;
  /** Attempts before this moment no longer count, because all limits started over then. */
  readonly countedFromMs: number;
  /** When the limit or the window changed, or all limits started over. */
  readonly changedMs: number;
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

/** Requests that a scenario sends at one moment. */
export interface Planned {
  readonly atMs: number;
  readonly count: number;
}

/** How many requests of a run ended in each way. */
export interface Outcomes {
  readonly allowed: number;
  readonly rejected: number;
  readonly failed: number;
  readonly canceled: number;
  readonly lost: number;
}

/** The current or last run of a scenario. */
export interface RunState {
  readonly id: string;
  readonly scenario: Scenario;
  /** Whether the page started it by itself. */
  readonly isAuto: boolean;
  /** The settings at the start of the run. */
  readonly settings: Settings;
  readonly planned: readonly Planned[];
  readonly status: 'running' | 'done' | 'stopped';
  /** Whether it ended early because the limit changed. */
  readonly isOutdated: boolean;
  readonly outcomes: Outcomes;
}

/** The response to the last request that the engine sent. */
export interface LastResponse {
  /** Such as `429 Too Many Requests`. */
  readonly status: string;
  readonly outcome: keyof Outcomes;
  /** The rate limit headers by name, or the decision of a page without a server. */
  readonly fields: readonly (readonly [name: string, value: string])[];
}

/** Where the state of the limits is. */
export type StoreKind = 'memory' | 'redis';

/** An update from the engine: the whole state, and the attempts that the page does not have yet. */
export interface Update extends Totals {
  readonly nowMs: number;
  readonly store: StoreKind;
  readonly state: State;
  readonly next: Readonly<Record<RowName, Next>> | undefined;
  readonly run: RunState | undefined;
  readonly response: LastResponse | undefined;
  /** Whether a user has sent requests or changed something, so that no page starts a scenario by itself. */
  readonly hasUserActed: boolean;
  /** Whether `attempts` replace those that the page has. */
  readonly isWhole: boolean;
  readonly attempts: readonly Attempt[];
}

/** The response to `GET /records`. */
export interface Records extends Totals {
  readonly state: State;
  readonly attempts: readonly Attempt[];
}

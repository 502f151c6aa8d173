// The settings, for the server's validation and for the page's controls.

/** What the chart compares, with the names on the page. */
export const ROWS = {
  rolling: 'Rolling window',
  bucketed: 'Bucketed window',
  counter: 'Sliding window counter',
  fixed: 'Fixed window',
  first: 'Fixed window from the first request',
  token: 'Token bucket',
  leaky: 'Leaky bucket',
} as const;
export type RowName = keyof typeof ROWS;
export const ROW_NAMES = Object.keys(ROWS) as RowName[];

/** The algorithms of @rollgate/core that have a window. `first` is not one of them. The playground only simulates it. */
export type Algorithm = Exclude<RowName, 'first'>;
export const ALGORITHM_NAMES = ROW_NAMES.filter((name) => name !== 'first');

/** The settings of the limit, which all users share. */
export interface Settings {
  /** The algorithm of the real limit. The others decide the same requests, to compare. */
  readonly algorithm: Algorithm;
  readonly limit: number;
  readonly windowMs: number;
  /** The least time between two requests, or 0. A leaky bucket does not have it. */
  readonly minDifferenceMs: number;
}

/** The smallest and largest value of each setting. */
export const BOUNDS = {
  limit: { min: 1, max: 50 },
  windowMs: { min: 2_000, max: 60_000 },
  minDifferenceMs: { min: 0, max: 5_000 },
} as const;

export const DEFAULT_SETTINGS: Settings = { algorithm: 'rolling', limit: 10, windowMs: 10_000, minDifferenceMs: 0 };

/** The scenarios, with the names of their buttons. */
export const SCENARIOS = {
  boundary: 'Boundary attack',
  first: 'First-request attack',
  burst: 'Burst',
  steady: 'Steady',
  hammer: 'Hammer',
  fill: 'Fill the limit',
  roll: 'Watch it roll',
} as const;
export type Scenario = keyof typeof SCENARIOS;

export const isScenario = (name: unknown): name is Scenario =>
  typeof name === 'string' && Object.hasOwn(SCENARIOS, name);

/** The time that the chart shows at most, in windows. */
export const WINDOWS_SHOWN = 2.5;

/** When the fixed window at this moment started. Fixed windows follow each other by the clock. */
export const clockWindowStart = (momentMs: number, windowMs: number): number =>
  Math.floor(momentMs / windowMs) * windowMs;

/**
 * The time between two starts of the leaky bucket, in whole milliseconds. It is rounded up, so that no window has more
 * than `limit` starts.
 */
export const leakyIntervalMs = ({ limit, windowMs }: Pick<Settings, 'limit' | 'windowMs'>): number =>
  Math.ceil(windowMs / limit);

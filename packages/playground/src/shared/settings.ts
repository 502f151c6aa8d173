// The settings, for the server's validation and for the page's sliders.

/** The six algorithms of @rollgate/core, with their names on the page. */
export const ALGORITHMS = {
  rolling: 'Rolling window',
  bucketed: 'Bucketed window',
  counter: 'Sliding window counter',
  fixed: 'Fixed window',
  token: 'Token bucket',
  leaky: 'Leaky bucket',
} as const;
export type Algorithm = keyof typeof ALGORITHMS;

/** The settings of the limit, which all users share. */
export interface Settings {
  readonly algorithm: Algorithm;
  readonly limit: number;
  readonly windowMs: number;
  /** The least time between two requests, or 0. A leaky bucket does not have it. */
  readonly minDifferenceMs: number;
}

/** The least and greatest value of each setting. */
export const BOUNDS = {
  limit: { least: 1, most: 50 },
  windowMs: { least: 2_000, most: 60_000 },
  minDifferenceMs: { least: 0, most: 5_000 },
} as const;

export const DEFAULT_SETTINGS: Settings = { algorithm: 'rolling', limit: 10, windowMs: 10_000, minDifferenceMs: 0 };

/** The time that the chart shows, in windows. */
export const WINDOWS_SHOWN = 2.5;

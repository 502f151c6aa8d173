// What can be set, for the server that checks it and for the page's sliders.

/** The six algorithms of @rollgate/core, as the page calls them. */
export const ALGORITHMS = {
  rolling: 'Rolling window',
  bucketed: 'Bucketed window',
  counter: 'Sliding window counter',
  fixed: 'Fixed window',
  token: 'Token bucket',
  leaky: 'Leaky bucket',
} as const;
export type Algorithm = keyof typeof ALGORITHMS;

/** The numbers of the limit that everybody shares. */
export interface Settings {
  readonly algorithm: Algorithm;
  readonly limit: number;
  readonly windowMs: number;
  /** Time between two requests; 0 for none. A leaky bucket knows none. */
  readonly minDifferenceMs: number;
}

/** From where to where each number goes, both included. */
export const BOUNDS = {
  limit: { least: 1, most: 50 },
  windowMs: { least: 2_000, most: 60_000 },
  minDifferenceMs: { least: 0, most: 5_000 },
} as const;

export const DEFAULT_SETTINGS: Settings = { algorithm: 'rolling', limit: 10, windowMs: 10_000, minDifferenceMs: 0 };

/** How much of the past the chart shows, in windows. */
export const WINDOWS_SHOWN = 2.5;

import {
  bucketedWindow,
  type Decision,
  fixedWindow,
  type Limit,
  leakyBucket,
  MemoryStore,
  RateLimiter,
  rollingWindow,
  slidingWindowCounter,
  tokenBucket,
} from '@rollgate/core';

/** The algorithms of @rollgate/core that have a window, with their names on the page. */
export const ALGORITHMS = {
  rolling: 'Rolling window',
  bucketed: 'Bucketed window',
  counter: 'Sliding window counter',
  fixed: 'Fixed window',
  token: 'Token bucket',
  leaky: 'Leaky bucket',
} as const;
export type Algorithm = keyof typeof ALGORITHMS;

/** Who decides about each request. `express` is no algorithm of Rollgate, so it cannot be the limit of the server. */
export type Row = Algorithm | 'express';
export const ROWS = ['express', ...Object.keys(ALGORITHMS)] as readonly Row[];

/** The limit that the page shows. */
export interface Settings {
  readonly algorithm: Algorithm;
  readonly limit: number;
  readonly windowMs: number;
  /** The least time between two requests, or 0. A leaky bucket does not have it. */
  readonly minDifferenceMs: number;
}

export const DEFAULT_SETTINGS: Settings = { algorithm: 'rolling', limit: 10, windowMs: 5000, minDifferenceMs: 0 };

/** The smallest and the largest value of each setting. */
export const BOUNDS = {
  limit: [1, 1000],
  windowMs: [2000, 60_000],
  minDifferenceMs: [0, 5000],
} as const satisfies Partial<Record<keyof Settings, readonly [number, number]>>;

/**
 * Returns valid settings.
 *
 * @throws RangeError with the name of the first setting that is invalid.
 */
export function toSettings(given: Readonly<Record<keyof Settings, unknown>>): Settings {
  for (const [name, [least, most]] of Object.entries(BOUNDS)) {
    const value = given[name as keyof Settings];
    if (!Number.isInteger(value) || (value as number) < least || (value as number) > most) {
      throw new RangeError(`Expected \`${name}\` to be an integer from ${least} to ${most}, got ${value}`);
    }
  }
  if (!Object.hasOwn(ALGORITHMS, String(given.algorithm))) {
    throw new RangeError(
      `Expected \`algorithm\` to be one of ${Object.keys(ALGORITHMS).join(', ')}, got ${given.algorithm}`,
    );
  }
  return given as Settings;
}

/** The functions that create a limit, by their names in code. */
const FACTORIES = { rollingWindow, bucketedWindow, slidingWindowCounter, fixedWindow, tokenBucket, leakyBucket };

/** The name of the function of each algorithm. */
export const FACTORY_NAMES: Readonly<Record<Algorithm, keyof typeof FACTORIES>> = {
  rolling: 'rollingWindow',
  bucketed: 'bucketedWindow',
  counter: 'slidingWindowCounter',
  fixed: 'fixedWindow',
  token: 'tokenBucket',
  leaky: 'leakyBucket',
};

/** Creates the limit of these settings, with another algorithm if one is given. */
export function toLimit(settings: Settings, algorithm: Algorithm = settings.algorithm): Limit {
  const create = FACTORIES[FACTORY_NAMES[algorithm]] as (options: object) => Limit;
  return create(toOptions(settings, algorithm));
}

/** Returns the options of the function that creates the limit. */
export function toOptions(settings: Settings, algorithm: Algorithm): Readonly<Record<string, number | string>> {
  const { limit, windowMs, minDifferenceMs } = settings;
  const window = toDuration(windowMs);
  const apart = minDifferenceMs === 0 ? {} : { minDifference: toDuration(minDifferenceMs) };
  if (algorithm === 'leaky') return { capacity: limit, interval: toDuration(leakyIntervalMs(settings)) };
  if (algorithm === 'token') return { capacity: limit, refill: limit, every: window, ...apart };
  return { limit, window, ...(algorithm === 'bucketed' ? { buckets: BUCKETS } : {}), ...apart };
}

const toDuration = (ms: number): string => (ms % 1000 === 0 ? `${ms / 1000}s` : `${ms}ms`);

/** Few enough that the difference to the rolling window is visible. */
const BUCKETS = 10;

/** The time between two starts of the leaky bucket, rounded up so that no window has more than `limit` starts. */
const leakyIntervalMs = ({ limit, windowMs }: Settings): number => Math.ceil(windowMs / limit);

/** When the windows of the clock restart, as a share of the window after the first request. */
const RESTART = 0.04;
/** The distance of the bursts of an attack from the end of a window. */
const MARGIN = 0.08;

/**
 * The times of the worst burst. The first request starts the window of express-rate-limit. The limit then comes just before
 * that window and the one of the clock end, and again just after.
 */
export function attackTimes({ limit, windowMs }: Settings): number[] {
  const times = (count: number, share: number) => new Array<number>(count).fill(Math.round(windowMs * share));
  return [0, ...times(limit, 1 - MARGIN), ...times(limit, 1 + RESTART + MARGIN)];
}

/** A request with what each row decided: its delay in milliseconds, or `null` if it was rejected. */
export interface Shot {
  /** Milliseconds since the first request. */
  readonly atMs: number;
  readonly delays: Record<Row, number | null>;
}

/** The same requests, decided by all rows. The times never decrease. */
export class Race {
  readonly settings: Settings;
  readonly shots: Shot[] = [];
  /** How exact the times of the decisions of the settings' algorithm are, if a server makes them. */
  toleranceMs = 0;
  readonly #rows: ReadonlyMap<Row, (atMs: number) => number | null>;
  readonly #express: ReturnType<typeof createExpressWindow>;

  constructor(settings: Settings) {
    this.settings = settings;
    this.#express = createExpressWindow(settings);
    this.#rows = new Map(ROWS.map((row) => [row, row === 'express' ? this.#express.decide : decideBy(settings, row)]));
  }

  /** Decides a request. */
  add(atMs: number): Shot {
    const time = Math.max(atMs, this.shots.at(-1)?.atMs ?? 0);
    const delays = Object.fromEntries([...this.#rows].map(([row, decide]) => [row, decide(time)]));
    const shot = { atMs: time, delays: delays as Shot['delays'] };
    this.shots.push(shot);
    return shot;
  }

  /** When the counter of a row restarts, within this time. Only fixed windows have such moments. */
  restarts(row: Row, fromMs: number, toMs: number): number[] {
    const { windowMs } = this.settings;
    if (row === 'express') return this.#express.endsMs.filter((endMs) => endMs >= fromMs && endMs <= toMs);
    if (row !== 'fixed') return [];
    const first = Math.ceil(fromMs / windowMs - RESTART);
    const count = Math.floor(toMs / windowMs - RESTART) - first + 1;
    return Array.from({ length: Math.max(0, count) }, (_, index) => (first + index + RESTART) * windowMs);
  }
}

/**
 * Decides like the memory of express-rate-limit, whose window begins with a client's first request, and again with the first
 * one after its end. Returns 0 for an allowed request and `null` for a rejected one.
 */
export function createExpressWindow({ limit, windowMs }: Pick<Settings, 'limit' | 'windowMs'>) {
  /** When the windows end. */
  const endsMs: number[] = [];
  let count = 0;
  const decide = (atMs: number): 0 | null => {
    if (atMs >= (endsMs.at(-1) ?? 0)) {
      endsMs.push(atMs + windowMs);
      count = 0;
    }
    count += 1;
    return count <= limit ? 0 : null;
  };
  return { decide, endsMs };
}

function decideBy(settings: Settings, algorithm: Algorithm): (atMs: number) => number | null {
  const clock = createClock(settings);
  const limiter = new RateLimiter({ limits: toLimit(settings, algorithm), store: new MemoryStore({ clock }) });
  return (atMs) => {
    clock.set(atMs);
    const { allowed, delayMs } = limiter.decide('visitor') as Decision;
    return allowed ? delayMs : null;
  };
}

/** Creates a clock for a store of Rollgate. It stands at the time of a request. */
export function createClock({ windowMs }: Settings) {
  let nowMs = 0;
  return {
    now: () => nowMs,
    /** @param atMs Milliseconds since the first request. */
    set: (atMs: number): void => {
      nowMs = (1000 - RESTART) * windowMs + atMs;
    },
  };
}

/** The most requests that started in any window. */
export interface Burst {
  readonly count: number;
  /** When the first and the last one of them started. */
  readonly fromMs: number;
  readonly toMs: number;
}

const NO_BURST: Burst = { count: 0, fromMs: 0, toMs: 0 };

/** When the allowed requests of a row started, in order. */
export const startsOf = (shots: readonly Shot[], row: Row): number[] =>
  shots
    .flatMap(({ atMs, delays: { [row]: delay } }) => (delay === null ? [] : [atMs + delay]))
    .sort((one, other) => one - other);

/** The most that a row allowed in any window. Times that are not exact prove less. */
export function mostOf(race: Race, row: Row): Burst {
  return worstBurst(startsOf(race.shots, row), measuredWindow(race, row));
}

/** The window in which too many requests prove a wrong decision. */
export const measuredWindow = ({ settings: { windowMs, algorithm }, toleranceMs }: Race, row: Row): number =>
  windowMs - (row === algorithm ? toleranceMs : 0);

/** For each start, what started in the window that ends with it, which excludes its first moment. */
export function burstsOf(starts: readonly number[], windowMs: number): Burst[] {
  let first = 0;
  return starts.map((toMs, index) => {
    while (starts[first]! <= toMs - windowMs) first += 1;
    return { count: index - first + 1, fromMs: starts[first]!, toMs };
  });
}

/** Finds the most starts in any window. */
export const worstBurst = (starts: readonly number[], windowMs: number): Burst =>
  burstsOf(starts, windowMs).reduce((worst, burst) => (burst.count > worst.count ? burst : worst), NO_BURST);

/** How much the benchmark measures. */
export interface Effort {
  /** `starts` is how often to start the processes. The speed of a process's memory depends on chance. */
  readonly memory: { readonly starts: number; readonly rounds: number; readonly keys: number };
  readonly http: Starts;
  readonly bytes: { readonly keysOfOneHit: number; readonly keysOfHundredHits: number };
  readonly scaling: { readonly rounds: number; readonly checks: number; readonly keys: readonly number[] };
  readonly algorithms: { readonly keys: number; readonly rounds: number; readonly checksPerKey: number };
  /** Checks per round in Redis, and in memory. */
  readonly openWork: { readonly rounds: number; readonly checks: number; readonly memoryCalls: number };
  /** How many processes start for each figure. */
  readonly start: { readonly rounds: number };
  /** A log of `lines` lines, and one that is `times` times as long. */
  readonly logs: { readonly lines: number; readonly times: number };
  /** The checks of many keys by rate-limiter-flexible. Other numbers of checks follow from it. */
  readonly sql: { readonly rounds: number; readonly checks: number };
  /** The seconds of each load on one key, and of the load above its limit. */
  readonly leasing: { readonly seconds: number; readonly overloadSeconds: number };
  /** The seconds of the load on a Cluster. */
  readonly anchors: { readonly seconds: number };
  /** How long the processes of a trial call an API, a multiple of 10. */
  readonly outgoing: { readonly seconds: number };
  /** How often each library runs each scenario. */
  readonly fairWait: { readonly rounds: number };
  readonly redis: {
    readonly load: RedisLoad;
    readonly growth: { readonly rounds: number; readonly checks: number; readonly limits: readonly number[] };
  };
}

/**
 * How often to start the servers, and how many rounds to measure per start. `roundMs` and `warmUpMs` apply to each server.
 *
 * The first requests shape a process's compiled code and heap for its whole life. So the figures of a single start depend on
 * chance.
 */
export interface Starts {
  readonly starts: number;
  readonly rounds: number;
  readonly roundMs: number;
  readonly warmUpMs: number;
}

/**
 * How many checks a part makes. Each client first warms up. A round then checks new keys, with one check in flight or
 * with several, and known keys.
 */
export interface RedisLoad {
  readonly rounds: number;
  readonly warmUp: number;
  readonly keysAlone: number;
  readonly keysTogether: number;
  readonly checks: number;
}

/** About half an hour. */
export const FULL: Effort = {
  memory: { starts: 3, rounds: 4, keys: 10_000 },
  http: { starts: 3, rounds: 9, roundMs: 1_000, warmUpMs: 2_000 },
  bytes: { keysOfOneHit: 100_000, keysOfHundredHits: 50_000 },
  scaling: { rounds: 5, checks: 1_000_000, keys: [1_000, 10_000, 100_000, 1_000_000] },
  algorithms: { keys: 50_000, rounds: 11, checksPerKey: 1_000 },
  openWork: { rounds: 9, checks: 20_000, memoryCalls: 500_000 },
  start: { rounds: 15 },
  logs: { lines: 100_000, times: 50 },
  sql: { rounds: 5, checks: 20_000 },
  leasing: { seconds: 10, overloadSeconds: 60 },
  anchors: { seconds: 20 },
  outgoing: { seconds: 30 },
  fairWait: { rounds: 3 },
  redis: {
    load: { rounds: 9, warmUp: 100_000, keysAlone: 2_000, keysTogether: 10_000, checks: 64_000 },
    growth: { rounds: 5, checks: 2_000, limits: [10, 100, 1_000, 10_000, 100_000] },
  },
};

/** A few minutes. Its figures scatter more. */
export const QUICK: Effort = {
  memory: { starts: 1, rounds: 2, keys: 5_000 },
  http: { starts: 1, rounds: 5, roundMs: 500, warmUpMs: 1_000 },
  bytes: { keysOfOneHit: 20_000, keysOfHundredHits: 2_000 },
  scaling: { rounds: 3, checks: 100_000, keys: [1_000, 10_000, 100_000] },
  algorithms: { keys: 10_000, rounds: 3, checksPerKey: 200 },
  openWork: { rounds: 3, checks: 4_000, memoryCalls: 100_000 },
  start: { rounds: 3 },
  logs: { lines: 50_000, times: 10 },
  sql: { rounds: 3, checks: 4_000 },
  leasing: { seconds: 2, overloadSeconds: 6 },
  anchors: { seconds: 5 },
  outgoing: { seconds: 10 },
  fairWait: { rounds: 1 },
  redis: {
    load: { rounds: 3, warmUp: 40_000, keysAlone: 1_000, keysTogether: 4_000, checks: 16_000 },
    growth: { rounds: 3, checks: 1_000, limits: [10, 100, 1_000, 10_000] },
  },
};

/** How much the benchmark measures. In full, it takes about half an hour. */
export const FULL = {
  /** `starts` is how often to start the processes. The speed of a process's memory depends on chance. */
  memory: { starts: 3, rounds: 4, keys: 10_000 },
  /**
   * How often to start the servers, and how many rounds to measure per start. `roundMs` and `warmUpMs` apply to each server.
   *
   * The first requests shape a process's compiled code and heap for its whole life. So the figures of a single start depend on
   * chance.
   */
  http: { starts: 3, rounds: 9, roundMs: 1_000, warmUpMs: 2_000 },
  bytes: { keysOfOneHit: 100_000, keysOfHundredHits: 50_000 },
  scaling: { rounds: 5, checks: 1_000_000, keys: [1_000, 10_000, 100_000, 1_000_000] },
  algorithms: { keys: 50_000, rounds: 11, checksPerKey: 1_000 },
  /** Checks per round in Redis, and in memory. */
  openWork: { rounds: 9, checks: 20_000, memoryCalls: 500_000 },
  /** How many processes start for each figure. */
  start: { rounds: 15 },
  /** The checks of many keys by rate-limiter-flexible. Other numbers of checks follow from it. */
  sql: { rounds: 5, checks: 20_000 },
  /** The seconds of each load on one key, and of the load above its limit. */
  leasing: { seconds: 10, overloadSeconds: 60 },
  /** How long the processes of a trial call an API, a multiple of 10. */
  outgoing: { seconds: 30 },
  /** How often each library runs each scenario. */
  fairWait: { rounds: 3 },
  /** The keys of a large system. */
  evening: { rounds: 3, keys: 1_000_000 },
  redis: {
    /** Each client first warms up. A round then checks new keys, with one check in flight or with several, and known keys. */
    load: { rounds: 9, warmUp: 100_000, keysAlone: 2_000, keysTogether: 10_000, checks: 64_000 },
    growth: { rounds: 5, checks: 2_000, limits: [10, 100, 1_000, 10_000, 100_000] },
  },
};

export type Effort = typeof FULL;
export type RedisLoad = Effort['redis']['load'];

/** A few minutes. Its figures scatter more. */
export const QUICK: Effort = {
  memory: { starts: 1, rounds: 2, keys: 5_000 },
  http: { starts: 1, rounds: 5, roundMs: 500, warmUpMs: 1_000 },
  bytes: { keysOfOneHit: 20_000, keysOfHundredHits: 2_000 },
  scaling: { rounds: 3, checks: 100_000, keys: [1_000, 10_000, 100_000] },
  algorithms: { keys: 10_000, rounds: 3, checksPerKey: 200 },
  openWork: { rounds: 3, checks: 4_000, memoryCalls: 100_000 },
  start: { rounds: 3 },
  sql: { rounds: 3, checks: 4_000 },
  leasing: { seconds: 2, overloadSeconds: 6 },
  outgoing: { seconds: 10 },
  fairWait: { rounds: 1 },
  evening: { rounds: 1, keys: 100_000 },
  redis: {
    load: { rounds: 3, warmUp: 40_000, keysAlone: 1_000, keysTogether: 4_000, checks: 16_000 },
    growth: { rounds: 3, checks: 1_000, limits: [10, 100, 1_000, 10_000] },
  },
};

/** The callers of a trial and their limit. All times are milliseconds of the machine's monotonic clock. */
export const PROCESSES = 8;
export const CALLERS = 80;
/** The time between two calls, which go to the processes in turns. */
export const GAP_MS = 2;
export const LIMIT = 5;
export const WINDOW_MS = 100;
/** The second limit allows each process one unit in this time, so that callers wait for both limits. */
export const OWN_WINDOW_MS = 150;
/** The third limit is that of the teams of two processes each. It allows each team so many units in this time. */
export const [TEAM_LIMIT, TEAM_WINDOW_MS] = [3, 220];
const TEAMS = PROCESSES / 2;
/** How far apart starts may come closer than their turns, because each may be late. */
export const SLACK_MS = 25;
/** Each third caller refunds its unit so long after its start. */
const REFUND_EVERY = 3;
export const REFUND_AFTER_MS = 20;

/** What the limits are, and what happens while callers wait. */
export const SCENARIOS = [
  'a burst',
  'a third refunded',
  'a token bucket',
  'two limits',
  'three limits',
  'one of 8 killed',
  'one of 8 stopped for 600 ms',
] as const;
export type Scenario = (typeof SCENARIOS)[number];

/** The process that is killed or stopped. */
export const VICTIM = 3;

export const processOf = (index: number): number => index % PROCESSES;

export const isRefunded = (index: number, scenario: Scenario): boolean =>
  scenario === 'a third refunded' && index % REFUND_EVERY === 0;

/** A rolling window of the callers, by its name. */
export interface LoadLimit {
  readonly limit: number;
  readonly windowMs: number;
  /** Whom it limits. */
  readonly clientOf: (process: number) => string;
}

const ALL = { all: { limit: LIMIT, windowMs: WINDOW_MS, clientOf: () => 'api' } };
const OWN = { own: { limit: 1, windowMs: OWN_WINDOW_MS, clientOf: (process: number) => `process ${process}` } };
const TEAM = {
  team: { limit: TEAM_LIMIT, windowMs: TEAM_WINDOW_MS, clientOf: (process: number) => `team ${process % TEAMS}` },
};

/** The limits of each caller. A token bucket is not one of them. */
export function limitsOf(scenario: Scenario): Readonly<Record<string, LoadLimit>> {
  if (scenario === 'three limits') return { ...ALL, ...OWN, ...TEAM };
  return scenario === 'two limits' ? { ...ALL, ...OWN } : ALL;
}

/** How far ahead `fairWaiting` grants turns by default, so starts may be out of order by as much. */
export const horizonMs = (scenario: Scenario): number => (Object.keys(limitsOf(scenario)).length > 1 ? 50 : 25);

export interface Start {
  readonly index: number;
  readonly calledMs: number;
  readonly startedMs: number;
}

/** The monotonic time, which all processes of a machine share. */
export const nowMs = (): number => Number(process.hrtime.bigint() / 1000n) / 1000;

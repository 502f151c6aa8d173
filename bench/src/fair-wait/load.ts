/** The callers of a trial and their limit. All times are milliseconds of the machine's monotonic clock. */
export const PROCESSES = 8;
export const CALLERS = 80;
/** The time between two calls, which go to the processes in turns. */
export const GAP_MS = 2;
export const LIMIT = 5;
export const WINDOW_MS = 100;
/** The second limit allows each process one unit in this time, so that both limits keep callers in turn. */
export const OWN_WINDOW_MS = 150;
/** How far apart starts may come closer than their turns, because each may be late. */
export const SLACK_MS = 25;
/** Each third caller refunds its unit so long after its start. */
const REFUND_EVERY = 3;
export const REFUND_AFTER_MS = 20;

/** What the limits are, and what happens while callers wait. */
export type Scenario =
  | 'a burst'
  | 'a third refunded'
  | 'a token bucket'
  | 'two limits'
  | 'one of 8 killed'
  | 'one of 8 stopped for 600 ms';

export const SCENARIOS: readonly Scenario[] = [
  'a burst',
  'a third refunded',
  'a token bucket',
  'two limits',
  'one of 8 killed',
  'one of 8 stopped for 600 ms',
];

/** The process that is killed or stopped. */
export const VICTIM = 3;

export const processOf = (index: number): number => index % PROCESSES;

export const isRefunded = (index: number, scenario: Scenario): boolean =>
  scenario === 'a third refunded' && index % REFUND_EVERY === 0;

/** A caller that has started. */
export interface Start {
  readonly index: number;
  readonly calledMs: number;
  readonly startedMs: number;
}

/** The monotonic time, which all processes of a machine share. */
export const nowMs = (): number => Number(process.hrtime.bigint() / 1000n) / 1000;

import { createRandom } from '@rollgate/test-support/random';

/** What may happen while callers of several processes wait. */
const DISTURBANCES = [
  'kill the first caller',
  'kill half of the processes',
  'stop a process',
  'flush the scripts',
  'close the connections of the clients',
  'close the connections of the subscribers',
  'restart the server',
  'restart the server without its data',
] as const;

export interface ScheduledCall {
  readonly process: number;
  /** After the start of the schedule. */
  readonly afterMs: number;
  readonly cost: number;
  readonly refundMs: number | undefined;
  readonly abortMs: number | undefined;
}

export interface ScheduledDisturbance {
  readonly what: (typeof DISTURBANCES)[number];
  /** After the start of the schedule. */
  readonly afterMs: number;
  /** How long a process is stopped. */
  readonly lastsMs: number;
  /** Which process is stopped. */
  readonly process: number;
}

/** Processes whose callers wait for one limit, and what happens to them. */
export interface WaitSchedule {
  readonly seed: number;
  readonly processes: number;
  readonly limit: number;
  readonly windowMs: number;
  readonly calls: readonly ScheduledCall[];
  readonly disturbances: readonly ScheduledDisturbance[];
}

/** Creates the schedule of a seed, with at most so many processes and callers in each. */
export function createWaitSchedule(seed: number, mostProcesses: number, mostCallers: number): WaitSchedule {
  const random = createRandom(seed);
  const between = (least: number, most: number) => least + Math.floor(random() * (most - least + 1));
  const sometimes = (part: number, most: number) => (random() < part ? between(0, most) : undefined);
  const processes = between(2, mostProcesses);
  const limit = between(1, 6);
  const calls = Array.from({ length: processes * between(2, mostCallers) }, (_, index) => ({
    process: index % processes,
    afterMs: between(0, 300),
    cost: random() < 0.7 ? 1 : between(1, limit),
    refundMs: sometimes(0.25, 100),
    abortMs: sometimes(0.15, 600),
  }));
  // Three seeds in a row have all of them.
  const disturbances = Array.from({ length: 3 }, (_, index) => ({
    what: DISTURBANCES[(3 * seed + index) % DISTURBANCES.length]!,
    afterMs: between(50, 900),
    lastsMs: between(100, 1500),
    process: between(0, processes - 1),
  }));
  disturbances.sort((one, other) => one.afterMs - other.afterMs);
  return { seed, processes, limit, windowMs: 50 * between(4, 10), calls, disturbances };
}

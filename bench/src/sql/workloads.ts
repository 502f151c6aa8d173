import type { StoredSettings } from '../subjects.js';
import type { SqlSubjectName } from './subjects.js';

/** Checks of the same kind, which each subject makes in each round. */
export interface SqlWorkload {
  readonly what: string;
  readonly processes: number;
  /** For each process. */
  readonly inFlight: number;
  readonly keyCount: number;
  /** The checks of all processes. A faster subject makes more, so that its time can be measured. */
  readonly checks: Record<SqlSubjectName, number>;
  readonly settings: StoredSettings;
  /** The checks before the measurement. */
  readonly filled: number;
  readonly isRejected: boolean;
}

const WINDOW_MS = 3_600_000;
/** Each process reads what the others have added to the log, so it must not grow with the number of checks. */
const SHARED_LOG_MS = 200;
const MANY_KEYS = 10_000;
const PROCESSES = 8;

/** Returns the workloads on both databases. `checks` is the number of checks of rate-limiter-flexible of many keys. */
export function createWorkloads(checks: number): SqlWorkload[] {
  const both = (times: number, flexible: number) => ({
    rollgate: flexible * times,
    'rate-limiter-flexible': flexible,
  });
  const base = { processes: 1, inFlight: 64, settings: { limit: 1_000_000, windowMs: WINDOW_MS }, filled: 0 };
  const oneKey = { ...base, keyCount: 1, isRejected: false };
  const manyKeys = { ...base, keyCount: MANY_KEYS, isRejected: false };
  const rejected = { limit: 10, windowMs: WINDOW_MS };
  const few = checks / 10;
  const full = { ...oneKey, settings: rejected, filled: 11, isRejected: true };
  const inEightProcesses = { processes: PROCESSES, inFlight: 8 };
  return [
    { ...manyKeys, what: '10,000 keys, 64 in flight', checks: both(1, checks) },
    { ...oneKey, what: 'one key, allowed, 64 in flight', checks: both(1, few) },
    { ...full, what: 'one key, rejected, 64 in flight', checks: both(20, few) },
    { ...manyKeys, what: '10,000 keys, 1 in flight', inFlight: 1, checks: both(1, few / 2) },
    { ...manyKeys, ...inEightProcesses, what: '10,000 keys, 8 processes', checks: both(1, 2 * checks) },
    {
      ...{ ...oneKey, ...inEightProcesses, what: 'one key, allowed, 8 processes', checks: both(5, checks / 5) },
      settings: { limit: 1_000_000, windowMs: SHARED_LOG_MS },
    },
    { ...full, ...inEightProcesses, what: 'one key, rejected, 8 processes', checks: both(5, checks / 5) },
  ];
}

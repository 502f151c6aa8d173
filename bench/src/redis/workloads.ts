import type { RedisLoad } from '../effort.js';
import { BASELINE, LIBRARIES, REDIS_SUBJECT_NAMES, type RedisSubjectName, TWO_WINDOWS } from './subjects.js';

/** Checks of the same kind, which each subject makes in each round. */
export interface Workload {
  readonly what: string;
  readonly subjects: readonly RedisSubjectName[];
  readonly inFlight: number;
  readonly keyCount: number;
  readonly checks: number;
  readonly limit: number;
  /** The number of hits in a log from which one hit leaves for each new one. Otherwise the server is empty at first. */
  readonly hits?: number;
  /** Whether all checks are rejected by the server. */
  readonly isRejected?: boolean;
}

const COUNTERS = ['rate-limit-redis', 'INCR + PTTL'] as const;
const CHECKS_PER_NEW_KEY = 2;
/** The checks in flight of a server with some traffic. */
const BUSY = 64;

/** Returns the workloads, in the order of the table. */
export function createWorkloads({ keysAlone, keysTogether, checks }: RedisLoad): Workload[] {
  const newKeys = (inFlight: number): Workload => {
    const keyCount = inFlight === 1 ? keysAlone : keysTogether;
    const subjects =
      inFlight === BUSY ? REDIS_SUBJECT_NAMES : REDIS_SUBJECT_NAMES.filter((name) => name !== TWO_WINDOWS);
    const keys = { keyCount, checks: keyCount * CHECKS_PER_NEW_KEY, limit: 100 };
    return { what: `new keys, ${inFlight} in flight`, subjects, inFlight, ...keys };
  };
  const fullLogs = (hits: number, keyCount: number): Workload => {
    const load = { inFlight: BUSY, keyCount, checks, limit: hits * 100 };
    const what = `full logs of ${hits.toLocaleString('en-US')}, ${BUSY} in flight`;
    return { what, subjects: [BASELINE, ...COUNTERS], hits, ...load };
  };
  const rejected: Workload = {
    what: `rejected, ${BUSY} in flight`,
    subjects: [...LIBRARIES.filter((name) => name !== 'rolling-rate-limiter'), 'INCR + PTTL'],
    inFlight: BUSY,
    keyCount: checks / 100,
    checks,
    limit: 10,
    isRejected: true,
  };
  return [...[1, 16, BUSY, 256].map(newKeys), fullLogs(90, checks / 100), fullLogs(1_000, checks / 500), rejected];
}

import { performance } from 'node:perf_hooks';
import { median } from '../statistics.js';
import { ipv4Key, toResult } from '../subjects.js';
import type { RedisSubject } from './subjects.js';

/** Checks of keys in turn, with `inFlight` of them pending at any time. */
export interface CheckTask {
  readonly keyCount: number;
  readonly checks: number;
  readonly inFlight: number;
  /** Whether to record only, if the subject has a faster way to do so. */
  readonly recordOnly?: boolean;
}

export interface CheckResult {
  readonly seconds: number;
  /** This process's processor time per check. */
  readonly cpuMicros: number;
  /** The median time of a check. Measured only with one check in flight. */
  readonly medianMs: number | null;
  readonly rejected: number;
  /** The mean number of hits in the window after a check. Measured only for subjects that keep a log. */
  readonly hits: number | null;
}

export async function runChecks(
  subject: RedisSubject,
  { keyCount, checks, inFlight, recordOnly = false }: CheckTask,
): Promise<CheckResult> {
  const keys = Array.from({ length: keyCount }, (_, index) => ipv4Key(index));
  const check = recordOnly ? (subject.record ?? subject.check) : subject.check;
  const timed = inFlight === 1;
  const timesMs: number[] = [];
  let started = 0;
  let rejected = 0;
  let hits = 0;

  async function loop(): Promise<void> {
    while (started < checks) {
      const key = keys[started++ % keyCount]!;
      const start = timed ? performance.now() : 0;
      let last: unknown;
      try {
        last = await check(key);
      } catch (rejection) {
        last = toResult(rejection);
      }
      if (timed) timesMs.push(performance.now() - start);
      if (subject.isRejection(last)) rejected++;
      if (subject.countHits !== undefined) hits += subject.countHits(last);
    }
  }

  // A forced garbage collection here would shrink the heap's young generation, and make the next checks 1.5 times as expensive.
  const cpuBefore = process.cpuUsage();
  const start = performance.now();
  await Promise.all(Array.from({ length: inFlight }, loop));
  const seconds = (performance.now() - start) / 1000;
  const { user, system } = process.cpuUsage(cpuBefore);
  return {
    seconds,
    cpuMicros: (user + system) / checks,
    medianMs: timed ? median(timesMs) : null,
    rejected,
    hits: subject.countHits === undefined ? null : hits / checks,
  };
}

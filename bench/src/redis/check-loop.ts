import { performance } from 'node:perf_hooks';
import { median } from '../statistics.js';
import { ipv4Key, toAnswer } from '../subjects.js';
import type { RedisSubject } from './subjects.js';

/** Checks of keys in turn, `inFlight` of them under way at any time. */
export interface CheckQuestion {
  readonly keyCount: number;
  readonly checks: number;
  readonly inFlight: number;
  /** To record only, where the subject has a quicker way to do so. */
  readonly recordOnly?: boolean;
}

export interface CheckAnswer {
  readonly seconds: number;
  /** Processor time of this process for each check. */
  readonly cpuMicros: number;
  /** From a check's start to its answer; looked at only while one check alone is in flight. */
  readonly medianMs: number | null;
  readonly refused: number;
}

/** Has the subject make the checks, and measures them. */
export async function runChecks(
  subject: RedisSubject,
  { keyCount, checks, inFlight, recordOnly = false }: CheckQuestion,
): Promise<CheckAnswer> {
  const keys = Array.from({ length: keyCount }, (_, index) => ipv4Key(index));
  const check = recordOnly ? (subject.record ?? subject.check) : subject.check;
  const timed = inFlight === 1;
  const timesMs: number[] = [];
  let started = 0;
  let refused = 0;

  async function loop(): Promise<void> {
    while (started < checks) {
      const key = keys[started++ % keyCount]!;
      const start = timed ? performance.now() : 0;
      let last: unknown;
      try {
        last = await check(key);
      } catch (refusal) {
        last = toAnswer(refusal);
      }
      if (timed) timesMs.push(performance.now() - start);
      if (subject.isRefusal(last)) refused++;
    }
  }

  // No forced garbage collection before it: that shrinks the heap's young part, and makes the next checks half as dear again.
  const cpuBefore = process.cpuUsage();
  const start = performance.now();
  await Promise.all(Array.from({ length: inFlight }, loop));
  const seconds = (performance.now() - start) / 1000;
  const { user, system } = process.cpuUsage(cpuBefore);
  return { seconds, cpuMicros: (user + system) / checks, medianMs: timed ? median(timesMs) : null, refused };
}

import { performance } from 'node:perf_hooks';
import { createSubject, ipv4Key, type Subject, type SubjectName, toAnswer } from './subjects.js';
import { answer } from './worker.js';

export interface MemoryQuestion {
  readonly limit: number;
  readonly keyCount: number;
  readonly hitsPerKey: number;
}

/** Checks per second. */
export interface MemoryAnswer {
  /** Of a fresh store's keys up to their limit: all are allowed. */
  readonly filling: number;
  /** Of these and the ones after them, which are refused. */
  readonly mix: number;
}

const name = process.argv[2] as SubjectName;

answer(async ({ limit, keyCount, hitsPerKey }: MemoryQuestion): Promise<MemoryAnswer> => {
  const keys = Array.from({ length: keyCount }, (_, index) => ipv4Key(index));
  const subject = createSubject(name, limit, keyCount);
  globalThis.gc!();

  const start = performance.now();
  const refusedWithin = await cycle(subject, keys, limit);
  const filledMs = performance.now() - start;
  const refusedBeyond = await cycle(subject, keys, hitsPerKey - limit);
  const totalMs = performance.now() - start;

  if (refusedWithin || !refusedBeyond) {
    throw new Error(`${name} did not allow ${limit} actions, or it allowed more`);
  }
  await subject.dispose(keys);
  return { filling: (keyCount * limit * 1000) / filledMs, mix: (keyCount * hitsPerKey * 1000) / totalMs };
});

/** Checks each key in turn, `times` times. Whether the last one was refused, seen at once: some answers change later. */
async function cycle(subject: Subject, keys: readonly string[], times: number): Promise<boolean> {
  let last: unknown;
  for (let time = 0; time < times; time++) {
    for (const key of keys) {
      try {
        last = await subject.check(key);
      } catch (refusal) {
        last = toAnswer(refusal);
      }
    }
  }
  return subject.isRefusal(last);
}

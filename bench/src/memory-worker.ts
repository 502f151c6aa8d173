import { performance } from 'node:perf_hooks';
import { createSubject, type InMemory, ipv4Key, type Subject, toResult } from './subjects.js';
import { handleTasks } from './worker.js';

export interface MemoryTask {
  readonly subject: InMemory;
  readonly limit: number;
  readonly keyCount: number;
  readonly hitsPerKey: number;
  /** @defaultValue a minute */
  readonly windowMs?: number;
}

/** In checks per second. */
export interface MemoryResult {
  /** The keys of a new store up to their limit, so all checks are allowed. */
  readonly filling: number;
  /** The same checks and the rejected ones that follow them. */
  readonly mix: number;
}

/**
 * The subjects of the round before. Each stays until its next round has ended, because V8 drops the compiled code of a class
 * with the last object of that class. A server keeps its store, so it never loses that code.
 */
const previous = new Map<InMemory, { readonly subject: Subject; readonly keys: readonly string[] }>();

handleTasks(async ({ subject: name, limit, keyCount, hitsPerKey, windowMs }: MemoryTask): Promise<MemoryResult> => {
  const keys = Array.from({ length: keyCount }, (_, index) => ipv4Key(index));
  const subject = createSubject(name, { limit, keyCount, windowMs });
  globalThis.gc!();

  const start = performance.now();
  const rejectedWithin = await cycle(subject, keys, limit);
  const filledMs = performance.now() - start;
  const rejectedBeyond = await cycle(subject, keys, hitsPerKey - limit);
  const totalMs = performance.now() - start;

  if (rejectedWithin || !rejectedBeyond) {
    throw new Error(`Expected ${name} to allow exactly ${limit} actions per key, got another number`);
  }
  const before = previous.get(name);
  await before?.subject.dispose(before.keys);
  previous.set(name, { subject, keys });
  return { filling: (keyCount * limit * 1000) / filledMs, mix: (keyCount * hitsPerKey * 1000) / totalMs };
});

/** Checks each key in turn, `times` times. Returns at once whether the last check was rejected, because some results change. */
async function cycle(subject: Subject, keys: readonly string[], times: number): Promise<boolean> {
  let last: unknown;
  for (let time = 0; time < times; time++) {
    for (const key of keys) {
      try {
        last = await subject.check(key);
      } catch (rejection) {
        last = toResult(rejection);
      }
    }
  }
  return subject.isRejection(last);
}

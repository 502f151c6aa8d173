import { fixedWindow, type Limit, RateLimiter, tokenBucket } from '@rollgate/core';
import { createSubject, ipv4Key, type Subject, toResult } from '../subjects.js';
import { handleTasks } from '../worker.js';
import type { PlainMemoryTask, SubjectName } from './memory-subjects.js';

const KEYS = 2_000;
const LIMIT = 100;
/** Of three checks of a key, one is allowed. */
const CHECKS_PER_KEY = 3 * LIMIT;
const WINDOW = '1m';

const create: Record<SubjectName, () => Subject> = {
  'rolling window': () => createSubject('rollgate', LIMIT, KEYS),
  'fixed window': () => createLimiter(fixedWindow({ limit: LIMIT, window: WINDOW })),
  'token bucket': () => createLimiter(tokenBucket({ capacity: LIMIT, refill: LIMIT, every: WINDOW })),
  'express-rate-limit': () => createSubject('express-rate-limit', LIMIT, KEYS),
  'rate-limiter-flexible': () => createSubject('rate-limiter-flexible', LIMIT, KEYS),
};

function createLimiter(limits: Limit): Subject {
  const limiter = new RateLimiter({ limits });
  return {
    check: (key) => limiter.check(key),
    isRejection: (result) => !(result as { allowed: boolean }).allowed,
    dispose: () => limiter.close(),
  };
}

const keys = Array.from({ length: KEYS }, (_, index) => ipv4Key(index));
/** The subjects of the round before, because V8 drops the compiled code of a class with the last object of that class. */
const previous = new Map<SubjectName, Subject>();

handleTasks(async ({ subject: name }: PlainMemoryTask): Promise<number> => {
  const subject = create[name]();
  globalThis.gc!();
  const start = performance.now();
  for (let check = 0; check < CHECKS_PER_KEY; check++) {
    for (const key of keys) {
      try {
        await subject.check(key);
      } catch (rejection) {
        toResult(rejection);
      }
    }
  }
  const seconds = (performance.now() - start) / 1000;
  await previous.get(name)?.dispose(keys);
  previous.set(name, subject);
  return seconds;
});

import type { RedisServer } from '@rollgate/test-support';
import { Worker } from '../worker.js';
import type { CheckAnswer, CheckQuestion } from './check-loop.js';
import type { RedisSubjectName } from './subjects.js';

/** Where the server runs, and where its clients do. */
export const SERVER_CORE = 0;
export const CLIENT_CORE = 1;

export interface Checker {
  readonly name: RedisSubjectName;
  readonly worker: Worker<CheckQuestion, CheckAnswer>;
}

/** Has `use` work with a process for each subject, which are ended afterwards. */
export async function withCheckers<Result>(
  server: RedisServer,
  names: readonly RedisSubjectName[],
  limit: number,
  use: (checkers: readonly Checker[]) => Promise<Result>,
): Promise<Result> {
  const checkers = await Promise.all(
    names.map(async (name) => ({
      name,
      worker: await Worker.start<CheckQuestion, CheckAnswer>('redis/check-worker.ts', {
        args: [name, server.url, String(limit)],
        core: CLIENT_CORE,
      }),
    })),
  );
  try {
    return await use(checkers);
  } finally {
    await Promise.all(checkers.map(({ worker }) => worker.stop()));
  }
}

import type { RedisServer } from '@rollgate/test-support';
import { Worker } from '../worker.js';
import type { CheckResult, CheckTask } from './check-loop.js';
import type { RedisSubjectName } from './subjects.js';

/** The cores of the server and of its clients. */
export const SERVER_CORE = 0;
export const CLIENT_CORE = 1;

export interface Checker {
  readonly name: RedisSubjectName;
  readonly worker: Worker<CheckTask, CheckResult>;
}

/** Calls `use` with a process for each subject, and stops the processes afterwards. */
export async function withCheckers<Result>(
  server: RedisServer,
  names: readonly RedisSubjectName[],
  limit: number,
  use: (checkers: readonly Checker[]) => Promise<Result>,
): Promise<Result> {
  const checkers = await Promise.all(
    names.map(async (name) => ({
      name,
      worker: await Worker.start<CheckTask, CheckResult>('redis/check-worker.ts', {
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

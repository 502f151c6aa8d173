import { Worker } from '../worker.js';
import type { CheckResult } from './check-loop.js';
import type { SubjectTask } from './check-worker.js';
import type { RedisSubjectName } from './subjects.js';

/** The cores of the server and of its clients. */
export const SERVER_CORE = 0;
export const CLIENT_CORE = 1;

export interface Checker {
  readonly name: RedisSubjectName;
  readonly worker: Worker<SubjectTask, CheckResult>;
}

/**
 * Calls `use` with a process for each subject, and stops the processes afterwards.
 *
 * @param address The server's URL, or the path of its Unix socket.
 */
export async function withCheckers<Result>(
  address: string,
  names: readonly RedisSubjectName[],
  use: (checkers: readonly Checker[]) => Promise<Result>,
): Promise<Result> {
  const checkers = await Promise.all(
    names.map(async (name) => ({
      name,
      worker: await Worker.start<SubjectTask, CheckResult>('redis/check-worker.ts', {
        args: [name, address],
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

import { type NamedWorker, startEach } from '../worker.js';
import type { CheckResult } from './check-loop.js';
import type { SubjectTask } from './check-worker.js';
import type { InRedis, RedisSubjectName } from './subjects.js';

/** The cores of the server and of its clients. */
export const SERVER_CORE = 0;
export const CLIENT_CORE = 1;

export type Checker<Name extends InRedis = RedisSubjectName> = NamedWorker<Name, SubjectTask, CheckResult>;

/** Starts a process for each subject, as a client of the server at `url`. */
export function startCheckers<Name extends InRedis>(url: string, names: readonly Name[]) {
  const options = { args: [url], core: CLIENT_CORE };
  return startEach<Name, SubjectTask, CheckResult>(names, 'redis/check-worker.ts', options);
}

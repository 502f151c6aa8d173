import { monitorEventLoopDelay } from 'node:perf_hooks';
import { type CheckResult, type CheckTask, runChecks } from '../redis/check-loop.js';
import { handleTasks } from '../worker.js';
import type { Backend, SqlSettings, SqlSubject, SqlSubjectName } from './subject.js';
import { createSqlSubject } from './subjects.js';

/** Checks by a subject with these settings. */
export type SqlTask = CheckTask & { readonly settings: SqlSettings };

export interface SqlResult extends CheckResult {
  /** The longest time for which the event loop did nothing else. It includes the time that other processes had the core. */
  readonly pauseMs: number;
}

const [backend, name, address] = process.argv.slice(2) as [Backend, SqlSubjectName, string];
const create = createSqlSubject(backend, name, address);
const subjects = new Map<string, Promise<SqlSubject>>();

handleTasks(async ({ settings, ...task }: SqlTask): Promise<SqlResult> => {
  const id = JSON.stringify(settings);
  const subject = subjects.get(id) ?? create(settings);
  subjects.set(id, subject);
  const pauses = monitorEventLoopDelay({ resolution: 1 });
  pauses.enable();
  const result = await runChecks(await subject, task);
  pauses.disable();
  // Without a sample, the event loop did nothing else at all.
  return { ...result, pauseMs: pauses.max === 0 ? result.seconds * 1000 : pauses.max / 1e6 };
});

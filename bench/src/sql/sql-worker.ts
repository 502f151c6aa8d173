import { monitorEventLoopDelay } from 'node:perf_hooks';
import { type CheckResult, type CheckTask, runChecks } from '../redis/check-loop.js';
import type { StoredSettings, StoredSubject } from '../subjects.js';
import { handleTasks } from '../worker.js';
import { type Backend, createSqlSubject, type SqlSubjectName } from './subjects.js';

export type SqlTask = CheckTask & { readonly settings: StoredSettings };

export interface SqlResult extends CheckResult {
  /** The longest time for which the event loop did nothing else. It includes the time that other processes had the core. */
  readonly pauseMs: number;
}

const [name, backend, address] = process.argv.slice(2) as [SqlSubjectName, Backend, string];
const create = createSqlSubject(backend, name, address);
const subjects = new Map<string, Promise<StoredSubject>>();

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

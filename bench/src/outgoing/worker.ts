import { setTimeout as sleep } from 'node:timers/promises';
import { handleTasks } from '../worker.js';
import { APIS } from './apis.js';
import type { Call, Target } from './libraries.js';
import { LIBRARIES, type OutgoingLibrary } from './libraries.js';

/** The calls of one process. */
export interface OutgoingTask extends Target {
  readonly library: OutgoingLibrary;
  /** How many calls the process wants to make at once. */
  readonly callers: number;
  /** When to stop, by `Date.now`. Without it, the process only connects. */
  readonly endMs?: number | undefined;
}

/** After a call that has failed for good. */
const PAUSE_MS = 10;

let call: Call | undefined;

handleTasks(async ({ endMs, callers, ...task }: OutgoingTask): Promise<'started'> => {
  call ??= await LIBRARIES[task.library](task);
  const makeCalls = async (end: number) => {
    while (Date.now() < end) {
      await call!(APIS[task.api].cost()).catch(() => sleep(PAUSE_MS));
    }
  };
  if (endMs !== undefined) for (let caller = 0; caller < callers; caller++) void makeCalls(endMs);
  return 'started';
});

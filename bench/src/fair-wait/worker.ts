import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { handleTasks, report } from '../worker.js';
import { LIBRARIES, type WaitingLibrary } from './libraries.js';
import { nowMs, REFUND_AFTER_MS, type Scenario, type Start } from './load.js';

/** What a process does: connects, or makes its calls. */
export type WaitTask =
  | {
      readonly kind: 'connect';
      readonly library: WaitingLibrary;
      readonly redisUrl: string;
      readonly process: number;
      readonly scenario: Scenario;
    }
  | { readonly kind: 'call'; readonly calls: readonly Call[] };

/** A call of `wait` at a time. */
export interface Call {
  readonly index: number;
  readonly atMs: number;
  readonly isRefunded: boolean;
}

type Wait = Awaited<ReturnType<(typeof LIBRARIES)[WaitingLibrary]>>;

let wait: Wait;

handleTasks(async (task: WaitTask): Promise<'done'> => {
  if (task.kind === 'connect') wait = await LIBRARIES[task.library](task.redisUrl, task.process, task.scenario);
  else await Promise.all(task.calls.map(call));
  return 'done';
});

async function call({ index, atMs, isRefunded }: Call): Promise<void> {
  await waitUntil(atMs);
  const calledMs = nowMs();
  const refund = await wait(() => report({ index, calledMs, startedMs: nowMs() } satisfies Start));
  if (!isRefunded || refund === undefined) return;
  await sleep(REFUND_AFTER_MS);
  await refund();
}

/** Timers may end a millisecond late. */
async function waitUntil(atMs: number): Promise<void> {
  while (atMs - nowMs() > 2) await sleep(atMs - nowMs() - 1);
  while (nowMs() < atMs) await nextTurn();
}

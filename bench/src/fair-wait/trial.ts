import { setTimeout as sleep } from 'node:timers/promises';
import { RedisServer } from '@rollgate/test-support';
import { Redis } from 'ioredis';
import { readFigures, resetFigures } from '../redis/server-figures.js';
import { Worker } from '../worker.js';
import { Arrivals } from './arrivals.js';
import { invertedPercent, mostWithin, usedPercent } from './figures.js';
import type { WaitingLibrary } from './libraries.js';
import * as load from './load.js';
import type { Call, WaitTask } from './worker.js';

export interface Outcome {
  /** Of the pairs of callers whose processes ran all the time, by the times of their calls. */
  readonly invertedPercent: number;
  /** The same by their arrival in Redis. */
  readonly invertedInRedisPercent: number | undefined;
  /** Scripts, without those for the refunds themselves. */
  readonly scriptsPerStart: number;
  readonly usedPercent: number;
  readonly mostWithin: number;
  /** Of the callers whose processes were not killed. */
  readonly startedPercent: number;
}

type WaitWorker = Worker<WaitTask, 'done'>;

/** How long after the first call a process is killed or stopped, and for how long it is stopped. */
const [DISTURBED_AFTER_MS, STOPPED_MS] = [300, 600];
/** How long the callers may take. The quota would allow all of them in 1.5 seconds. */
const MOST_MS = 15_000;

export async function runTrial(library: WaitingLibrary, scenario: load.Scenario): Promise<Outcome> {
  const server = await RedisServer.start();
  const client = new Redis(server.url);
  const starts: load.Start[] = [];
  const onReport = (start: unknown) => starts.push(start as load.Start);
  const startWorker = () => Worker.start<WaitTask, 'done'>('fair-wait/worker.ts', { onReport });
  const workers = await Promise.all(Array.from({ length: load.PROCESSES }, startWorker));
  try {
    const arrivals =
      library === 'fair'
        ? await Arrivals.watch(client, (process, place) => process + place * load.PROCESSES)
        : undefined;
    const connect = { kind: 'connect', library, redisUrl: server.url, scenario } as const;
    await Promise.all(workers.map((worker, process) => worker.run({ ...connect, process })));
    await sleep(load.WINDOW_MS); // The first distance of a limiter that paces its starts has passed.
    await resetFigures(server);
    await callAll(workers, scenario);
    const { commands } = await readFigures(server);
    return summarize(starts, commands, scenario, arrivals);
  } finally {
    client.disconnect();
    for (const worker of workers) worker.signal('SIGKILL'); // A stopped process would not end otherwise.
    await Promise.all(workers.map((worker) => worker.stop()));
    await server.stop();
  }
}

/** Resolves when the callers of all processes that live have started, or have had enough time. */
async function callAll(workers: readonly WaitWorker[], scenario: load.Scenario): Promise<void> {
  const firstMs = load.nowMs() + 200;
  const calls = Array.from({ length: load.CALLERS }, (_, index): Call => {
    return { index, atMs: firstMs + index * load.GAP_MS, isRefunded: load.isRefunded(index, scenario) };
  });
  const runs = workers.map((worker, process) =>
    worker.run({ kind: 'call', calls: calls.filter(({ index }) => load.processOf(index) === process) }),
  );
  if (scenario === 'one of 8 killed') runs.splice(load.VICTIM, 1)[0]!.catch(() => {});
  const enough = new AbortController();
  const late = sleep(MOST_MS, undefined, { signal: enough.signal }).catch(() => {});
  await sleep(firstMs + DISTURBED_AFTER_MS - load.nowMs());
  await disturb(workers[load.VICTIM]!, scenario);
  await Promise.race([Promise.all(runs), late]);
  enough.abort();
}

async function disturb(victim: WaitWorker, scenario: load.Scenario): Promise<void> {
  if (scenario === 'one of 8 killed') victim.signal('SIGKILL');
  if (scenario !== 'one of 8 stopped for 600 ms') return;
  victim.signal('SIGSTOP');
  await sleep(STOPPED_MS);
  victim.signal('SIGCONT');
}

function summarize(
  starts: readonly load.Start[],
  scripts: number,
  scenario: load.Scenario,
  arrivals: Arrivals | undefined,
): Outcome {
  const isDisturbed = scenario === 'one of 8 killed' || scenario === 'one of 8 stopped for 600 ms';
  const others = starts.filter(({ index }) => !isDisturbed || load.processOf(index) !== load.VICTIM);
  const isKilled = scenario === 'one of 8 killed';
  const [alive, aliveStarts] = isKilled
    ? [load.CALLERS - load.CALLERS / load.PROCESSES, others]
    : [load.CALLERS, starts];
  const refunds = starts.filter(({ index }) => load.isRefunded(index, scenario)).length;
  return {
    invertedPercent: invertedPercent(others, scenario, ({ calledMs }) => calledMs),
    invertedInRedisPercent: arrivals && invertedPercent(others, scenario, ({ index }) => arrivals.places.get(index)!),
    scriptsPerStart: (scripts - refunds) / starts.length,
    usedPercent: usedPercent(starts, scenario),
    mostWithin: mostWithin(starts, load.WINDOW_MS - load.SLACK_MS),
    startedPercent: (aliveStarts.length / alive) * 100,
  };
}

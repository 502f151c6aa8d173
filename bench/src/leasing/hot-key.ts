import { randomUUID } from 'node:crypto';
import type { RedisServer } from '@rollgate/test-support';
import { readCpuMicros, readFigures, resetFigures } from '../redis/server-figures.js';
import { Worker } from '../worker.js';
import type { HotKeyResult, HotKeyTask, StoreName } from './hot-key-worker.js';

/** What all processes did together. */
export interface HotKeyFigures {
  readonly decisionsPerSecond: number;
  readonly scriptsPer1000: number;
  /** The allowed checks, as a percentage of those that an exact log allows. */
  readonly usedPercent: number;
  readonly p99Ms: number;
  /** `NaN` if no decision was local. */
  readonly localP99Micros: number;
  /** The processor time of the processes and of the server per decision. */
  readonly cpuMicros: number;
}

/** Load on one key. */
export interface HotKeyLoad extends Omit<HotKeyTask, 'prefix' | 'perSecond'> {
  readonly processes: number;
  /** The checks of all processes as a part of the limit, or `undefined` for as many as they can make. */
  readonly load?: number | undefined;
}

/** Checks one key in several processes, and returns what they did together. */
export async function measureHotKey(server: RedisServer, name: StoreName, load: HotKeyLoad): Promise<HotKeyFigures> {
  const { processes, limit, windowMs, seconds } = load;
  const total = load.load === undefined ? undefined : (load.load * limit * 1000) / windowMs;
  const start = () => Worker.start<HotKeyTask, HotKeyResult>('leasing/hot-key-worker.ts', { args: [name, server.url] });
  const workers = await Promise.all(Array.from({ length: processes }, start));
  const prefix = randomUUID();
  try {
    const run = (worker: (typeof workers)[number], task: Partial<HotKeyTask>) =>
      worker.run({ ...load, prefix, perSecond: total && total / processes, ...task });
    await Promise.all(workers.map((worker) => run(worker, warmUpOf(load)))); // Includes compilation.
    await resetFigures(server);
    const before = await readCpuMicros(server);
    const results = await Promise.all(workers.map((worker) => run(worker, {})));
    const { commands } = await readFigures(server);
    const sum = (part: 'decisions' | 'allowed' | 'cpuSeconds') =>
      results.reduce((all, result) => all + result[part], 0);
    const most = (part: 'p99Ms' | 'localP99Micros') => Math.max(...results.map((result) => result[part] ?? Number.NaN));
    const serverMicros = (await readCpuMicros(server)) - before;
    const quota = (limit * seconds * 1000) / windowMs; // The log was full at the start if the load is above 1.
    return {
      decisionsPerSecond: sum('decisions') / seconds,
      scriptsPer1000: (commands / sum('decisions')) * 1000,
      usedPercent: (sum('allowed') / Math.min(quota, sum('decisions'))) * 100,
      cpuMicros: (serverMicros + sum('cpuSeconds') * 1e6) / sum('decisions'),
      p99Ms: most('p99Ms'),
      localP99Micros: most('localP99Micros'),
    };
  } finally {
    await Promise.all(workers.map((worker) => worker.stop()));
  }
}

/** A load above 1 starts with a full log, whose hits are spread over the window. An empty one would allow a burst first. */
function warmUpOf({ load, processes, limit, windowMs }: HotKeyLoad): Partial<HotKeyTask> {
  if (load === undefined || load <= 1) return { seconds: 1 };
  return { seconds: (1.2 * windowMs) / 1000, perSecond: (limit * 1000) / windowMs / processes };
}

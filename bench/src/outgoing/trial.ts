import { setTimeout as sleep } from 'node:timers/promises';
import { RedisServer } from '@rollgate/test-support';
import { LimitedApiServer } from '@rollgate/test-support/limited-api-server';
import { LIMITED_APIS } from '@rollgate/test-support/limited-apis';
import { Worker } from '../worker.js';
import { APIS, type ApiName, createQuota, unitsWithin } from './apis.js';
import type { OutgoingLibrary } from './libraries.js';
import type { OutgoingTask } from './worker.js';

/** How processes call an API. */
export interface Scenario {
  readonly api: ApiName;
  /** How many of the processes have calls to make. */
  readonly busy: number;
  /** The part of the quota that other clients take. */
  readonly foreign: number;
}

export interface Outcome {
  /** Of the calls. */
  readonly rejectedPercent: number;
  /** Of the quota that others have left. */
  readonly usedPercent: number;
}

export const PROCESSES = 4;
export const CALLERS = 25;
/** The shortest and the longest time that a call takes. */
const LATENCY_MS = [20, 80] as const;

/** Lets the processes call the API with this library for some seconds. */
export async function runTrial(library: OutgoingLibrary, scenario: Scenario, seconds: number): Promise<Outcome> {
  const redis = await RedisServer.start();
  const api = await startApi(scenario.api);
  const start = () => Worker.start<OutgoingTask, 'started'>('outgoing/worker.ts');
  const workers = await Promise.all(Array.from({ length: PROCESSES }, start));
  try {
    const task = { library, api: scenario.api, url: api.url, redisUrl: redis.url, processes: PROCESSES };
    await Promise.all(workers.map((worker) => worker.run({ ...task, callers: 0 })));
    await startOfWindow(scenario.api);
    const endMs = Date.now() + seconds * 1000;
    const stopOthers = useByOthers(api, scenario);
    await Promise.all(
      workers.map((worker, index) => worker.run({ ...task, callers: index < scenario.busy ? CALLERS : 0, endMs })),
    );
    await sleep(endMs - Date.now());
    stopOthers();
    const { allowed, rejected, allowedUnits, foreignUnits } = api.counts;
    return {
      rejectedPercent: (rejected / Math.max(1, allowed + rejected)) * 100,
      usedPercent: (allowedUnits / (unitsWithin(scenario.api, seconds * 1000) - foreignUnits)) * 100,
    };
  } finally {
    await Promise.all(workers.map((worker) => worker.stop()));
    api.close();
    await redis.stop();
  }
}

function startApi(name: ApiName): Promise<LimitedApiServer> {
  return LimitedApiServer.start({ api: LIMITED_APIS[name], quota: createQuota(name), latencyMs: LATENCY_MS });
}

/** Waits until a window of the clock begins. */
async function startOfWindow(api: ApiName): Promise<void> {
  const { windowMs } = APIS[api];
  await sleep(windowMs - (Date.now() % windowMs));
}

/** Takes this part of the quota, evenly over the time. Returns a function that ends it. */
function useByOthers(api: LimitedApiServer, scenario: Scenario): () => void {
  if (scenario.foreign === 0) return () => {};
  const { limit, windowMs } = APIS[scenario.api];
  const timer = setInterval(() => api.serveOther(1), windowMs / (limit * scenario.foreign));
  return () => clearInterval(timer);
}

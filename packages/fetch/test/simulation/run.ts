import { setImmediate } from 'node:timers/promises';
import { MemoryStore, manualClock } from '@rollgate/core';
import type { ApiQuota } from '@rollgate/test-support/api-quotas';
import type { LimitedApi } from '@rollgate/test-support/limited-apis';
import { createRandom } from '@rollgate/test-support/random';
import { createFetch, type FetchOptions } from '../../src';
import { SimulatedApi, type Totals } from './simulated-api';

/** A trial in virtual time. */
export interface Trial {
  readonly api: LimitedApi;
  readonly quota: ApiQuota;
  readonly options: FetchOptions;
  readonly seconds: number;
  /** The instances that share a store, as processes do. */
  readonly instances?: number;
  /** The calls that each instance has open or waiting at once. */
  readonly workers?: number;
  /** The real cost of a call. */
  readonly cost?: (random: () => number) => number;
  /** What a client estimates instead, as a factor. */
  readonly estimate?: number;
  /** The calls of other clients per millisecond, at random times. */
  readonly foreignRate?: number;
  /** The cost of such a call. */
  readonly foreignCost?: number;
  /** Whether they come at even times instead, so that each of them meets the same instant of a window. */
  readonly foreignIsEven?: boolean;
  readonly latencyMs?: readonly [number, number];
  readonly aheadMs?: number;
  /** Called at each second of virtual time. */
  readonly onSecond?: (second: number) => void;
}

const START_MS = Date.parse('2026-03-01T00:00:00Z');
const STEP_MS = 5;

/** Calls an API as fast as it allows, for some seconds of virtual time. Returns what the API has counted. */
export async function runTrial(trial: Trial): Promise<Totals> {
  const { instances = 4, workers = 4, cost = () => 1, estimate = 1, latencyMs = [20, 80], aheadMs = 0 } = trial;
  const { foreignRate = 0, foreignCost = 1, foreignIsEven = false } = trial;
  const random = createRandom(1);
  const foreignRandom = createRandom(2);
  const untilNext = () => -Math.log(1 - foreignRandom());
  const clock = manualClock(START_MS);
  const api = new SimulatedApi(clock, random, { api: trial.api, quota: trial.quota, latencyMs, aheadMs });
  const store = new MemoryStore({ clock });
  const estimateOf = ({ url }: { url: URL }) => Math.ceil(Number(url.searchParams.get('cost')) * estimate);
  let isOver = false;
  const clients = Array.from({ length: instances }, () =>
    createFetch({
      store,
      fetch: api.fetch,
      maxWait: '1h',
      cost: (request) => ({ requests: 1, tokens: estimateOf(request), points: estimateOf(request) }),
      ...trial.options,
    }),
  );
  const work = async (client: (typeof clients)[number]) => {
    while (!isOver) await client(`https://api.example${trial.api.path}?cost=${cost(random)}`).catch(() => {});
  };
  const running = clients.flatMap((client) => Array.from({ length: workers }, () => work(client)));
  let foreign = 0;
  for (let ms = 0; ms < trial.seconds * 1000; ms += STEP_MS) {
    if (ms % 1000 === 0) trial.onSecond?.(ms / 1000);
    for (foreign += foreignRate * STEP_MS; foreign >= 1; foreign -= foreignIsEven ? 1 : untilNext())
      api.serveForeign(foreignCost);
    clock.advance(STEP_MS);
    await setImmediate();
  }
  const totals = { ...api.totals };
  isOver = true;
  for (const client of clients) client.close();
  for (let ms = 0; ms < 5000; ms += 50) {
    clock.advance(50);
    await setImmediate();
  }
  await Promise.all(running);
  return totals;
}

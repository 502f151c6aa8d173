import type { Planned } from '../shared/protocol.js';
import { clockWindowStart, type Scenario, type Settings } from '../shared/settings.js';

/** What a scenario needs. */
export interface ScenarioContext {
  /** The settings at the start of the scenario. */
  readonly settings: Settings;
  /** Whether the settings have changed since. */
  readonly haveChanged: () => boolean;
  /** The engine's time in milliseconds. */
  readonly now: () => number;
  /** Sends one request. Resolves after the response. */
  readonly send: () => Promise<void>;
  /** Resolves after that time, never earlier, or rejects when the scenario is stopped. */
  readonly pause: (ms: number) => Promise<void>;
  /** Shows the requests that the scenario is about to send. */
  readonly plan: (planned: readonly Planned[]) => void;
  /** Stops the scenario because the settings have changed. */
  readonly stop: () => void;
}

type Steps = (context: ScenarioContext, earliestMs: number) => Promise<void>;

const HAMMER_INTERVAL_MS = 50;
export const HAMMER_MS = 5000;
/** How many requests of a burst exceed the limit. */
export const BURST_EXCESS = 5;
/** How many requests exceed the limit when a scenario fills it, and how long it takes at most. */
const [FILL_EXCESS, MAX_FILL_MS] = [3, 2600];
/** The first request of an attack is at least this far ahead, so that it is not late. */
const LEAD_MS = 100;

const sendTimes = (count: number, send: () => Promise<void>) => Promise.all(Array.from({ length: count }, send));

/** The distance of an attack's halves from the boundary. The first half must be decided before the boundary. */
export function boundaryMargin(windowMs: number): number {
  return Math.min(Math.max(windowMs / 60, 400), windowMs / 4);
}

/**
 * The limit just before a fixed window ends, and again just after: at 0:59 and 1:01 for a window of a minute. Short windows
 * have a larger margin, so that the chart separates the two halves.
 */
const boundary: Steps = async ({ settings, now, send, pause, plan }, earliestMs) => {
  const { limit, windowMs } = settings;
  const marginMs = boundaryMargin(windowMs);
  const boundaryMs = clockWindowStart(earliestMs + LEAD_MS + marginMs, windowMs) + windowMs;
  const halves = [boundaryMs - marginMs, boundaryMs + marginMs];
  plan(halves.map((atMs) => ({ atMs, count: limit })));
  await Promise.all(halves.map((atMs) => pause(atMs - now()).then(() => sendTimes(limit, send))));
};

/**
 * One request, which starts a window, then the rest of the limit just before that window ends, and the limit again just
 * after. The window of express-rate-limit starts like that, and its worst burst is `2 * limit - 1`.
 */
const first: Steps = async ({ settings, now, send, pause, plan }, earliestMs) => {
  const { limit, windowMs } = settings;
  const marginMs = boundaryMargin(windowMs);
  const startMs = Math.max(earliestMs, now() + LEAD_MS);
  const steps = [
    { atMs: startMs, count: 1 },
    { atMs: startMs + windowMs - marginMs, count: limit - 1 },
    { atMs: startMs + windowMs + marginMs, count: limit },
  ];
  plan(steps);
  await Promise.all(steps.map(({ atMs, count }) => pause(atMs - now()).then(() => sendTimes(count, send))));
};

const burst: Steps = async ({ settings, send }) => {
  await sendTimes(settings.limit + BURST_EXCESS, send);
};

/**
 * As many requests as are allowed, evenly, for two windows. Each waits until the request `limit` positions before it has
 * left the window, counted from its response. So even a late timer never sends two too close together.
 */
const steady: Steps = async ({ settings, haveChanged, now, send, pause, plan, stop }) => {
  const { limit, windowMs, minDifferenceMs } = settings;
  const intervalMs = Math.max(windowMs / limit, minDifferenceMs);
  const count = Math.ceil((2 * windowMs) / intervalMs);
  const [startMs, plannedMs] = [performance.now(), now()];
  plan(Array.from({ length: count }, (_, index) => ({ atMs: plannedMs + index * intervalMs, count: 1 })));
  const respondedMs: number[] = [];
  for (let index = 0; index < count; index++) {
    const fromMs = (respondedMs[index - limit] ?? -Infinity) + windowMs;
    const apartMs = (respondedMs[index - 1] ?? -Infinity) + minDifferenceMs;
    await pause(Math.max(startMs + index * intervalMs, fromMs, apartMs) - performance.now());
    if (haveChanged()) return stop();
    await send();
    respondedMs.push(performance.now());
  }
};

const hammer: Steps = async ({ now, send, pause, plan }) => {
  const count = HAMMER_MS / HAMMER_INTERVAL_MS;
  const [startMs, plannedMs] = [performance.now(), now()];
  plan(Array.from({ length: count }, (_, index) => ({ atMs: plannedMs + index * HAMMER_INTERVAL_MS, count: 1 })));
  const responses: Promise<void>[] = [];
  for (let index = 0; index < count; index++) {
    await pause(startMs + index * HAMMER_INTERVAL_MS - performance.now());
    responses.push(send());
  }
  await Promise.all(responses);
};

/** Single requests at the same distance from each other, until the settings change. */
async function sendEvenly(context: ScenarioContext, startMs: number, intervalMs: number, count: number): Promise<void> {
  const { now, send, pause, plan, haveChanged, stop } = context;
  const times = Array.from({ length: count }, (_, index) => startMs + index * intervalMs);
  plan(times.map((atMs) => ({ atMs, count: 1 })));
  const responses: Promise<void>[] = [];
  for (const atMs of times) {
    await pause(atMs - now());
    if (haveChanged()) return stop();
    responses.push(send());
  }
  await Promise.all(responses);
}

/** A few more requests than the limit, one after the other, within a quarter of a window. */
const fill: Steps = (context, earliestMs) => {
  const { limit, windowMs } = context.settings;
  const count = limit + FILL_EXCESS;
  return sendEvenly(context, earliestMs + LEAD_MS, Math.min(windowMs / 4, MAX_FILL_MS) / count, count);
};

/** Fills the limit within half a window and goes on. Each request that leaves the window then makes room for the next one. */
const roll: Steps = (context, earliestMs) => {
  const { limit, windowMs } = context.settings;
  return sendEvenly(context, earliestMs + LEAD_MS, windowMs / (2 * limit), Math.ceil(3.2 * limit));
};

/** The steps of each scenario. `earliestMs` is when the first request may leave. */
export const STEPS: Readonly<Record<Scenario, Steps>> = { boundary, first, burst, steady, hammer, fill, roll };

/** Whether the scenario's result is clear only if no earlier request counts. */
export const startsOver = (scenario: Scenario): boolean => ['boundary', 'first', 'fill', 'roll'].includes(scenario);

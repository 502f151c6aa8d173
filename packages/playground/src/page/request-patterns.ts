import type { Settings } from '../shared/settings.js';
import { seconds } from './elements.js';
import { fixedStart } from './window-counts.js';

/** What a pattern of requests needs. */
export interface Sender {
  /** The settings at the start of the pattern. */
  readonly settings: Settings;
  /** Whether the settings have changed since. */
  readonly haveChanged: () => boolean;
  /** The server's time in milliseconds. */
  readonly now: () => number;
  /** Sends one request. Resolves after the response. */
  readonly hit: () => Promise<void>;
  /** Resolves after that time, never earlier, or rejects when the pattern is stopped. */
  readonly pause: (ms: number) => Promise<void>;
  /** Shows what the pattern does. */
  readonly showStatus: (text: string) => void;
  /** Stops the pattern, and shows the reason when it has ended. */
  readonly stop: (why: string) => void;
}

export type Pattern = (sender: Sender) => Promise<void>;

const HAMMER_EACH_MS = 50;
const HAMMER_MS = 5000;
/** How many requests of a burst exceed the limit. */
const EXTRA = 5;

const times = (count: number, hit: () => Promise<void>) => Promise.all(Array.from({ length: count }, hit));

const one: Pattern = async ({ hit, showStatus }) => {
  showStatus('One request.');
  await hit();
};

/**
 * As many requests as are allowed, evenly, for two windows. Each waits until the request `limit` positions before it has
 * left the window, counted from its response. So even a late timer never sends two too close together.
 */
const steady: Pattern = async ({ settings, haveChanged, hit, pause, showStatus, stop }) => {
  const { limit, windowMs, minDifferenceMs } = settings;
  const eachMs = Math.max(windowMs / limit, minDifferenceMs);
  const count = Math.ceil((2 * windowMs) / eachMs);
  showStatus(
    `Steady: one each ${seconds(eachMs)}, for two windows. No request is rejected while the limit stays the same.`,
  );
  const startMs = performance.now();
  const respondedMs: number[] = [];
  for (let index = 0; index < count; index++) {
    const fromMs = (respondedMs[index - limit] ?? -Infinity) + windowMs;
    const apartMs = (respondedMs[index - 1] ?? -Infinity) + minDifferenceMs;
    await pause(Math.max(startMs + index * eachMs, fromMs, apartMs) - performance.now());
    if (haveChanged()) return stop('The limit has changed.');
    await hit();
    respondedMs.push(performance.now());
  }
};

const burst: Pattern = async ({ settings, hit, showStatus }) => {
  const count = settings.limit + EXTRA;
  showStatus(`Burst: ${count} requests at once, ${EXTRA} more than the limit.`);
  await times(count, hit);
};

/**
 * The limit just before a fixed window ends, and again just after: at 0:59 and 1:01 for a window of a minute. Short windows
 * have a larger margin, so that the first half arrives before the end, and the chart separates the two halves.
 */
const boundary: Pattern = async ({ settings, now, hit, pause, showStatus }) => {
  const { limit, windowMs } = settings;
  const marginMs = Math.min(Math.max(windowMs / 60, 400), windowMs / 4);
  const startMs = now() + marginMs + 100;
  const boundaryMs = fixedStart(startMs, windowMs) + windowMs;
  const plan = `${limit} requests ${seconds(marginMs)} before a fixed window ends, and ${limit} more the same time after`;
  showStatus(`Boundary attack: ${plan}. It begins in ${seconds(boundaryMs - marginMs - now())}.`);
  await pause(boundaryMs - marginMs - now());
  await Promise.all([times(limit, hit), pause(boundaryMs + marginMs - now()).then(() => times(limit, hit))]);
};

const hammer: Pattern = async ({ hit, pause, showStatus }) => {
  const count = HAMMER_MS / HAMMER_EACH_MS;
  showStatus(`Hammering: ${count} requests in ${seconds(HAMMER_MS)}. Rejected ones do not count.`);
  const startMs = performance.now();
  const hits: Promise<void>[] = [];
  for (let index = 0; index < count; index++) {
    await pause(startMs + index * HAMMER_EACH_MS - performance.now());
    hits.push(hit());
  }
  await Promise.all(hits);
};

/** The patterns by the names of their buttons. */
export const PATTERNS: Readonly<Record<string, Pattern>> = { one, steady, burst, boundary, hammer };

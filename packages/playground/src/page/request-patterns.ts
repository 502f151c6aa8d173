import type { Settings } from '../shared/settings.js';
import { fixedStart } from './count-window.js';
import { seconds } from './elements.js';

/** What a pattern of requests is sent with. */
export interface Sender {
  /** When it began. */
  readonly settings: Settings;
  /** Whether they are others by now. */
  readonly haveChanged: () => boolean;
  /** The server's time. */
  readonly now: () => number;
  /** Sends one request; resolves when it is answered. */
  readonly hit: () => Promise<void>;
  /** Resolves after that time, never earlier, or rejects when the pattern is stopped. */
  readonly pause: (ms: number) => Promise<void>;
  /** Says what is going on. */
  readonly tell: (text: string) => void;
  /** Stops the pattern, and says why when it has ended. */
  readonly stop: (why: string) => void;
}

export type Pattern = (sender: Sender) => Promise<void>;

const HAMMER_EACH_MS = 50;
const HAMMER_MS = 5000;
/** What comes at once in a burst beside the limit. */
const BEYOND = 5;

const times = (count: number, hit: () => Promise<void>) => Promise.all(Array.from({ length: count }, hit));

const one: Pattern = async ({ hit, tell }) => {
  tell('One request.');
  await hit();
};

/**
 * As many as are allowed, evenly, for two windows. Each waits until the one a whole limit before it has left the window for
 * certain, by when that was answered: so no timer that is late lets two come too close.
 */
const steady: Pattern = async ({ settings, haveChanged, hit, pause, tell, stop }) => {
  const { limit, windowMs, minDifferenceMs } = settings;
  const eachMs = Math.max(windowMs / limit, minDifferenceMs);
  const count = Math.ceil((2 * windowMs) / eachMs);
  tell(`Steady: one each ${seconds(eachMs)}, for two windows. No request is rejected while the limit stays the same.`);
  const startMs = performance.now();
  const answeredMs: number[] = [];
  for (let index = 0; index < count; index++) {
    const fromMs = (answeredMs[index - limit] ?? -Infinity) + windowMs;
    const apartMs = (answeredMs[index - 1] ?? -Infinity) + minDifferenceMs;
    await pause(Math.max(startMs + index * eachMs, fromMs, apartMs) - performance.now());
    if (haveChanged()) return stop('The limit was changed meanwhile.');
    await hit();
    answeredMs.push(performance.now());
  }
};

const burst: Pattern = async ({ settings, hit, tell }) => {
  const count = settings.limit + BEYOND;
  tell(`Burst: ${count} requests at once, ${BEYOND} more than the limit.`);
  await times(count, hit);
};

/**
 * The limit just before a fixed window ends, and again as long after it: at 0:59 and 1:01 for a window of a minute. Short
 * windows get more than their sixtieth, so that the first half is there in time, and the two stand apart in the picture.
 */
const boundary: Pattern = async ({ settings, now, hit, pause, tell }) => {
  const { limit, windowMs } = settings;
  const marginMs = Math.min(Math.max(windowMs / 60, 400), windowMs / 4);
  const startMs = now() + marginMs + 100;
  const boundaryMs = fixedStart(startMs, windowMs) + windowMs;
  const plan = `${limit} requests ${seconds(marginMs)} before a fixed window ends, and ${limit} more the same time after`;
  tell(`Boundary attack: ${plan}. It begins in ${seconds(boundaryMs - marginMs - now())}.`);
  await pause(boundaryMs - marginMs - now());
  await Promise.all([times(limit, hit), pause(boundaryMs + marginMs - now()).then(() => times(limit, hit))]);
};

const hammer: Pattern = async ({ hit, pause, tell }) => {
  const count = HAMMER_MS / HAMMER_EACH_MS;
  tell(`Hammering: ${count} requests in ${seconds(HAMMER_MS)}. Rejected ones do not count.`);
  const startMs = performance.now();
  const hits: Promise<void>[] = [];
  for (let index = 0; index < count; index++) {
    await pause(startMs + index * HAMMER_EACH_MS - performance.now());
    hits.push(hit());
  }
  await Promise.all(hits);
};

/** By the name of their button. */
export const PATTERNS: Readonly<Record<string, Pattern>> = { one, steady, burst, boundary, hammer };

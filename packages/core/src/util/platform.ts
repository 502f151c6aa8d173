import { AsyncResource } from 'node:async_hooks';
import { createHash } from 'node:crypto';
import * as diagnostics from 'node:diagnostics_channel';
import * as perfHooks from 'node:perf_hooks';
import { debuglog } from 'node:util';

// What Node provides. `platform.web.ts` takes its place in the build for other platforms.

/** The part of a diagnostics channel that Rollgate uses. */
export interface EventChannel {
  readonly hasSubscribers: boolean;
  publish(event: unknown): void;
}

/** Returns the diagnostics channel with this name. */
export const channel: (name: string) => EventChannel = diagnostics.channel;

/** Calls `listener` with each event of the diagnostics channel with this name. Returns a function that ends it. */
export function subscribe(name: string, listener: (event: unknown) => void): () => void {
  diagnostics.subscribe(name, listener);
  return () => void diagnostics.unsubscribe(name, listener);
}

/** Prints lines. Does nothing unless the environment variable `NODE_DEBUG` names its section. */
export interface DebugLog {
  (format: string, text: string): void;
  readonly enabled: boolean;
}

/** Returns the log of a section. `undefined` on platforms without `NODE_DEBUG`. */
export const debugLog: ((section: string) => DebugLog) | undefined = debuglog;

export const performance: { readonly timeOrigin: number; now(): number } = perfHooks.performance;

/** A copy, because a lookup on `process` takes a fifth as long as the reading. */
const { hrtime } = process;

const started = hrtime();
/** The difference between the time since the Unix epoch and the machine's monotonic time. A constant, which a check need not read. */
const START_MICROS =
  Math.round((performance.timeOrigin + performance.now()) * 1000) - started[0] * 1e6 - Math.floor(started[1] / 1000);

/**
 * Returns whole microseconds since the Unix epoch, by the system time at the start of the process. Never steps.
 *
 * `performance.now()` reads the same time of the machine, but takes a third longer and has fractions.
 */
export function monotonicMicros(): number {
  const time = hrtime();
  return START_MICROS + time[0] * 1e6 + Math.floor(time[1] / 1000);
}

/** Whether a timer may serve several requests. Some platforms end the timers of a request with the request. */
export const REQUESTS_SHARE_TIMERS: boolean = true;

/**
 * Whether a store that may fail has to bring its guard. If it need not, every app contains the guard, even one that keeps its limits
 * in memory.
 */
export const STORES_BRING_GUARDS: boolean = false;

/** Emits a process warning. */
export function emitWarning(message: string, options: { type: string; code: string; detail?: string }): void {
  process.emitWarning(message, options);
}

/** Binds a callback to the caller's async context. */
export const bindAsyncContext: (callback: () => void) => () => void = AsyncResource.bind;

/** Calls `callback` after the event loop has read from its sockets. */
export function afterPoll(callback: () => void): void {
  setImmediate(callback);
}

/** Returns the SHA-256 of the text's UTF-16 code units, little-endian, in base64url. */
export function hashUtf16(text: string): string {
  return createHash('sha256').update(text, 'utf16le').digest('base64url');
}

/** Whether errors name what other packages have created. Bundles for other platforms have no room for it. */
export const NAMES_OTHER_PACKAGES: boolean = true;

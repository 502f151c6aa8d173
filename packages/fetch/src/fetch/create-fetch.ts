import { validateOptionalFunction, validateOptionNames } from '@rollgate/core/store';
import { type Attempt, OutgoingCalls } from '../calls/outgoing-calls.js';
import type { StartedCall } from '../calls/started-call.js';
import { cancelBody, untilBodyFails } from '../calls/unsent-body.js';
import type { FetchOptions } from '../options/fetch-options.js';
import { CALL_OPTIONS, type ResolvedFetchOptions, resolveFetchOptions } from '../options/resolve-options.js';
import type { Report } from '../reports/read-report.js';
import { callOf, type FetchCall } from './call-of.js';
import { isFailedConnect, watchConnects } from './failed-connects.js';
import { readJson } from './read-body.js';
import { Rejection } from './rejection.js';
import { settleCost } from './settle-cost.js';

type Fetch = typeof globalThis.fetch;

/** What `createFetch` has returned. One that replaces the global `fetch` must not send with itself. */
const created = new WeakSet<Fetch>();

/** A `fetch` that obeys the limits of the API. */
export interface RateLimitedFetch {
  /** Like `fetch`, but waits until the API allows the call. */
  (...args: Parameters<Fetch>): ReturnType<Fetch>;
  /**
   * Ends all waits, and rejects all later calls. A call that waits rejects, or resolves to its last rejection if it has one. Calls
   * that have been sent go on. Await the promise before you close the connection of the store. It resolves when the store has what
   * the responses so far have reported.
   */
  close(): Promise<void>;
}

/**
 * Creates a `fetch` that obeys the limits of an API. It holds calls back before the API would reject them, and waits as long as
 * responses demand. It repeats rejected calls that may be repeated. All processes with the same `store` obey what one of them
 * learns.
 *
 * A call rejects like one of `fetch`: a response with any status is a response, also the last rejection. In addition, it rejects with a
 * `TimeoutError` if it would have to wait for more than `maxWait`.
 *
 * @throws TypeError, RangeError naming the invalid option.
 * @example
 * ```ts
 * import { createFetch, github } from '@rollgate/fetch';
 *
 * const api = createFetch({ bucket: () => 'my-app', dialects: [github()] });
 * // Then call it like `fetch`: await api('https://api.github.com/zen');
 * await api.close();
 * ```
 */
export function createFetch(options: FetchOptions = {}): RateLimitedFetch {
  validateOptionNames('createFetch', options, [...CALL_OPTIONS, 'fetch', 'settle']);
  for (const name of ['fetch', 'settle'] as const) validateOptionalFunction(name, options[name]);
  const resolved = resolveFetchOptions(options);
  const calls = new OutgoingCalls(resolved, options.signal);
  watchConnects();
  const { fetch: original } = globalThis;
  const send: Fetch = (...args) =>
    (options.fetch ?? (created.has(globalThis.fetch) ? original : globalThis.fetch))(...args);
  const settings = { ...resolved, send, isGlobal: options.fetch === undefined, settle: options.settle };
  const limited = (...args: Parameters<Fetch>) => sendWithinLimits(calls, settings, args);
  created.add(limited);
  return Object.assign(limited, { close: () => calls.close() });
}

interface Settings extends ResolvedFetchOptions {
  readonly send: Fetch;
  /** Whether the global `fetch` sends. Another one may take more arguments. */
  readonly isGlobal: boolean;
  readonly settle: FetchOptions['settle'];
}

async function sendWithinLimits(calls: OutgoingCalls, settings: Settings, args: Parameters<Fetch>): Promise<Response> {
  const { attempts, maxWaitMs, mayRepeat, isGlobal } = settings;
  const call = callOf(args, isGlobal);
  const mayRetry = call.stream === undefined && mayRepeat(call.request.method, call.hasIdempotencyKey);
  let waitMs = maxWaitMs;
  let rejection: Rejection | undefined;
  for (let attempt = 1; ; attempt++) {
    const started = await startOr(rejection, calls, call, { attempt, waitMs });
    if (started === undefined) return rejection!.take();
    rejection?.discard();
    const { response, report, finished } = await sendOnce(calls, started, settings, call);
    if (call.signal?.aborted) {
      response.body?.cancel().catch(() => {});
      throw call.signal.reason;
    }
    const { isRejected, retryAfterMs = 0 } = report;
    waitMs -= started.waitedMs;
    if (!isRejected || attempt === attempts || !mayRetry || !report.mayRetry || retryAfterMs > waitMs) return response;
    rejection = new Rejection(response, report);
    await finished; // The next attempt must not wait for this one.
  }
}

/** Starts an attempt. Resolves to `undefined` if there is a response already, and another attempt cannot start in time. */
async function startOr(
  rejection: Rejection | undefined,
  calls: OutgoingCalls,
  { request, stream, signal }: FetchCall,
  attempt: Omit<Attempt, 'rejection' | 'signal'>,
): Promise<StartedCall | undefined> {
  try {
    const start = (ending?: AbortSignal) =>
      calls.start(request, { ...attempt, rejection: rejection?.report, signal: ending });
    return await untilBodyFails(stream, signal, start);
  } catch (error) {
    if (rejection !== undefined && !signal?.aborted) return undefined;
    rejection?.discard();
    cancelBody(stream, error);
    throw error;
  }
}

/** Sends a request, and closes the call in any case. The caller need not wait until the store knows that. */
async function sendOnce(
  calls: OutgoingCalls,
  started: StartedCall,
  settings: Settings,
  { args, stream }: FetchCall,
): Promise<{ response: Response; report: Report; finished: Promise<void> }> {
  const { send, settle, clock } = settings;
  try {
    const response = await send(...args);
    const { origin } =
      response.redirected && URL.canParse(response.url) ? new URL(response.url) : started.plan.request.url;
    const head = calls.headOf(started, response.status, response.headers, origin);
    const body = calls.readsBody(head) ? await readJson(response, clock) : undefined;
    const report = calls.read(started, { ...head, body }, origin !== started.plan.request.url.origin);
    const mustSettle = settle !== undefined && !report.isRejected;
    const finished = calls.closing.finish(started, report, mustSettle);
    // The copy is read while the caller reads the response. The call stays open until then.
    if (mustSettle) {
      const settled = settleCost(settle, response, started.plan.request, settings);
      void settled.then((cost) => calls.closing.settle(started, report, cost));
    }
    return { response, report, finished };
  } catch (error) {
    cancelBody(stream, error); // `fetch` does not do it if it rejects the arguments.
    void calls.closing.fail(started, isFailedConnect(error, started.plan.request.url.origin));
    throw error;
  }
}

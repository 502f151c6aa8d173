import { type Awaitable, type Duration, type Limits, type RollingWindow, rollingWindow } from '@rollgate/core';
import {
  getOrCache,
  invalidLimits,
  isThenable,
  mapAwaitable,
  mixedLimits,
  type ParsedLimits,
  ROLLING_WINDOW_OPTIONS,
  toParsedLimits,
} from '@rollgate/core/store';
import type { ForRequest, LimitOptions, WindowOptions } from './options.js';

/** The limits of every request, or a function that returns those of one request. */
export interface ResolvedLimits<Request> {
  /** `undefined` if they differ between requests. */
  readonly fixed: ParsedLimits | undefined;
  /** Limits with the names and algorithms of those of every request, if these are always the same. */
  readonly sample: ParsedLimits | undefined;
  /** Returns the limits of a request. */
  readonly forRequest: (request: Request) => Awaitable<Limits>;
  /** The options that are functions, for errors of `forRequest`. */
  readonly optionName: string;
}

/** @throws TypeError, RangeError with the name of the invalid option. */
export function resolveLimits<Request>(options: LimitOptions<Request>): ResolvedLimits<Request> {
  const windowOptions = ROLLING_WINDOW_OPTIONS.filter((name) => options[name] !== undefined);
  const { limits } = options;
  if (limits === undefined) return resolveWindow(options as WindowOptions<Request>);
  if (windowOptions.length > 0) throw mixedLimits(windowOptions);
  if (typeof limits === 'function') {
    const forRequest = limits as (request: Request) => Awaitable<Limits>;
    return { fixed: undefined, sample: undefined, forRequest, optionName: 'limits' };
  }
  if (limits === null) throw invalidLimits(limits);
  return fixedLimits(toParsedLimits(limits));
}

function fixedLimits(fixed: ParsedLimits): ResolvedLimits<unknown> {
  return { fixed, sample: fixed, forRequest: () => fixed, optionName: 'limits' };
}

type CreateWindow = (limit: number, window: Duration) => RollingWindow;

function resolveWindow<Request>(options: WindowOptions<Request>): ResolvedLimits<Request> {
  const { limit, window } = options;
  const settings = Object.fromEntries(ROLLING_WINDOW_OPTIONS.map((name) => [name, options[name]]));
  const createWindow: CreateWindow = (units, duration) =>
    rollingWindow({ ...settings, limit: units, window: duration });
  if (typeof limit !== 'function' && typeof window !== 'function') return fixedLimits(createWindow(limit, window));
  // Validates the options that are values now instead of at the first request.
  const sample = createWindow(typeof limit === 'function' ? 1 : limit, typeof window === 'function' ? '1s' : window);
  const functions = Object.entries({ limit, window }).filter(([, value]) => typeof value === 'function');
  const windows = new Map<string, RollingWindow>();
  const getWindow: CreateWindow = (units, duration) =>
    getOrCache(windows, `${typeof units} ${units} ${typeof duration} ${duration}`, () => createWindow(units, duration));
  return {
    fixed: undefined,
    sample,
    optionName: functions.map(([name]) => name).join('` or `'),
    forRequest(request) {
      const units = resolveForRequest(limit, request);
      if (!isThenable(units)) {
        return mapAwaitable(resolveForRequest(window, request), (duration) => getWindow(units, duration));
      }
      // Inside a promise, because an error of `window` would otherwise leave a rejection of `limit` unhandled.
      const duration = new Promise<Duration>((resolve) => resolve(resolveForRequest(window, request)));
      return Promise.all([units, duration]).then((resolved) => getWindow(...resolved));
    },
  };
}

function resolveForRequest<Request, Value>(option: ForRequest<Request, Value>, request: Request): Awaitable<Value> {
  return typeof option === 'function' ? (option as (request: Request) => Awaitable<Value>)(request) : option;
}

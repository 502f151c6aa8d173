import type * as node from './platform.js';
import { sha256 } from './sha256.js';

// Takes the place of `platform.ts` on platforms other than Node. It uses nothing but web standards, and Node's features where the
// platform has them.

interface Host {
  readonly process?: {
    emitWarning?: typeof node.emitWarning;
    getBuiltinModule?: (name: string) => unknown;
  };
}
const { process } = globalThis as Host;

type Listener = (event: unknown) => void;
interface Diagnostics {
  channel?: typeof node.channel;
  subscribe?: (name: string, listener: Listener) => void;
  unsubscribe?: (name: string, listener: Listener) => void;
}
type AsyncHooks = { AsyncResource?: { bind: typeof node.bindAsyncContext } };

/** A module of Node, if the platform has it. */
const builtin = <Module>(name: string) => process?.getBuiltinModule?.(name) as Module | undefined;

/** A platform without diagnostics channels has no subscribers. */
export const channel: typeof node.channel =
  builtin<Diagnostics>('node:diagnostics_channel')?.channel ?? (() => ({ hasSubscribers: false, publish() {} }));

export const subscribe: typeof node.subscribe = (name, listener) => {
  const diagnostics = builtin<Diagnostics>('node:diagnostics_channel');
  diagnostics?.subscribe?.(name, listener);
  return () => diagnostics?.unsubscribe?.(name, listener);
};

/** Other platforms have no `NODE_DEBUG`. */
export const debugLog = undefined;

export const { performance } = globalThis;

export const REQUESTS_SHARE_TIMERS = false;

export const STORES_BRING_GUARDS = true;

export const NAMES_OTHER_PACKAGES = false;

/** Reads the origin each time, because some platforms know the time only while they handle a request. */
export const monotonicMicros: typeof node.monotonicMicros = () =>
  Math.round((performance.timeOrigin + performance.now()) * 1000);

export const emitWarning: typeof node.emitWarning = (message, options) => {
  if (process?.emitWarning) process.emitWarning(message, options);
  else console.warn(`(${options.code}) ${options.type}: ${message}`);
};

export const bindAsyncContext: typeof node.bindAsyncContext = (callback) =>
  builtin<AsyncHooks>('node:async_hooks')?.AsyncResource?.bind(callback) ?? callback;

export const afterPoll: typeof node.afterPoll = (callback) => {
  setTimeout(callback, 0);
};

export const hashUtf16: typeof node.hashUtf16 = (text) => {
  const base64 = btoa(String.fromCharCode(...sha256(text)));
  return base64.replaceAll('+', '-').replaceAll('/', '_').replace('=', '');
};

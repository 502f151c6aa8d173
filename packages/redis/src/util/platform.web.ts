import type * as node from './platform.js';

// Takes the place of `platform.ts` on platforms other than Node. It uses nothing but web standards.

/** No client there emits errors. */
export const errorMonitor = Symbol('errorMonitor');

export const { performance } = globalThis;

export const sha1: typeof node.sha1 = async (text) => {
  const hash = await crypto.subtle.digest('SHA-1', new TextEncoder().encode(text));
  return Array.from(new Uint8Array(hash), (byte) => byte.toString(16).padStart(2, '0')).join('');
};

export const randomId: typeof node.randomId = () => {
  const bytes = crypto.getRandomValues(new Uint8Array(6));
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_');
};

/** Workers forbid a request to wait for what another one sends. Within a microtask, the code of one request runs. */
export const afterTurn: typeof node.afterTurn = queueMicrotask;
export const REQUESTS_SHARE_CONNECTIONS = false;

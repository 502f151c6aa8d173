import { createHash, randomBytes } from 'node:crypto';

// What Node provides. `platform.web.ts` takes its place in the build for other platforms.

export { errorMonitor } from 'node:events';
export { performance } from 'node:perf_hooks';

/** Returns the SHA-1 of a text, in hexadecimal. */
export function sha1(text: string): string | Promise<string> {
  return createHash('sha1').update(text).digest('hex');
}

/** Returns 48 random bits in base64url. */
export function randomId(): string {
  return randomBytes(6).toString('base64url');
}

/** Calls `callback` after the code that runs now, and after that of other events that have arrived. */
export function afterTurn(callback: () => void): void {
  setImmediate(callback);
}

/** Whether one request may wait for what another one sends. */
export const REQUESTS_SHARE_CONNECTIONS: boolean = true;

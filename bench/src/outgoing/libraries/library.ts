import type { ApiName } from '../apis.js';

/** What a library has to know to call an API. */
export interface Target {
  readonly api: ApiName;
  readonly url: string;
  /** The Redis server that the processes share. */
  readonly redisUrl: string;
  readonly processes: number;
}

/** Makes one call of this cost, and resolves when it has ended. */
export type Call = (cost: number) => Promise<unknown>;

/** Creates the client of one process, configured as the documentation of the library shows. */
export type CreateCall = (target: Target) => Call | Promise<Call>;

/** A rejection by the API. */
export class RejectedError extends Error {
  constructor(readonly retryAfterMs: number) {
    super('Expected the API to allow the call, got the status 429');
  }
}

/** Sends a call. Rejects with a {@link RejectedError} if the API does. */
export async function send(address: string): Promise<void> {
  const response = await fetch(address);
  await response.text();
  if (response.status === 429) throw new RejectedError(readWaitMs(response.headers));
}

/** The wait that a rejection of one of the APIs reports. */
function readWaitMs(headers: Headers): number {
  const exact = headers.get('retry-after-ms');
  if (exact !== null) return Number(exact);
  const after = headers.get('x-ratelimit-reset-after');
  if (after !== null) return Number(after) * 1000;
  return Math.max(0, Number(headers.get('x-ratelimit-reset')) * 1000 - Date.now());
}

import { channel } from '@rollgate/core/store';
import type { CallRequest, QuotaReport } from './dialects/dialect.js';

/** Published on the channel `rollgate:fetch:wait` when a call has to wait before it is sent. */
export interface WaitEvent {
  /** The call. */
  readonly request: CallRequest;
  /** The account whose quota the call uses, as the option `bucket` returns it. */
  readonly bucket: string;
  /** The quota within the bucket, as the dialect names it. Empty without a name. */
  readonly route: string;
  /** How many milliseconds the call has to wait, if nothing else happens. 0 if only earlier calls make it wait. */
  readonly waitMs: number;
  /**
   * The names of the limits that make it wait: yours, and those that begin with `fetch.`. Empty if the call waits only
   * for its next attempt, or for earlier calls to start.
   */
  readonly violated: readonly string[];
}

/** Published on the channel `rollgate:fetch:response` for each response, also of attempts that are repeated. */
export interface ResponseEvent {
  /** The call. */
  readonly request: CallRequest;
  /** The account whose quota the call used. */
  readonly bucket: string;
  /** The quota within the bucket. */
  readonly route: string;
  /** The status code. */
  readonly status: number;
  /** Which attempt of the call this is, from 1. */
  readonly attempt: number;
  /** How many milliseconds this attempt waited before it was sent. */
  readonly waitedMs: number;
  /** Whether the server rejected the call because of a limit. */
  readonly isRejected: boolean;
  /** For how many milliseconds calls stop now, if the response rejects. */
  readonly retryAfterMs: number | undefined;
  /** The quotas that the response reports. */
  readonly quotas: readonly QuotaReport[];
}

interface Channel<Event> {
  readonly hasSubscribers: boolean;
  publish(event: Event): void;
}

/** Calls that wait. */
export const waits: Channel<WaitEvent> = channel('rollgate:fetch:wait');
/** Responses, with what they report. */
export const responses: Channel<ResponseEvent> = channel('rollgate:fetch:response');

import type { Store } from '../store/store.js';
import { type Timers, timersOf } from '../time/clock.js';
import { MAX_TIMER_MS } from '../util/background-timer.js';
import { inspectionOf } from './keys-of.js';

/** A note that a store keeps for this process. */
export interface KeptNote {
  /**
   * Resolves once the store has the note, and rejects with the error if the first try fails. Further tries follow in either case.
   * An app that serves requests need not wait for it, and no rejection of it is ever unhandled.
   */
  readonly ready: Promise<void>;
  /** Ends its renewal, so that it expires. */
  close(): void;
}

/** How often a note is written while its process runs, in relation to its expiry. */
export const WRITES_PER_EXPIRY = 3;

const FIRST_RETRY_MS = 1000;
const MAX_RETRY_MS = 60_000;

/** Keeps a note in the store, with the text that `toText` returns for each write. */
export function keepNote(store: Store, name: readonly string[], toText: () => string, expiryMs: number): KeptNote {
  const inspection = inspectionOf(store);
  const write = async () => inspection.writeNote(JSON.stringify(name), toText(), expiryMs);
  return keepWriting(write, expiryMs / WRITES_PER_EXPIRY, timersOf(store.clock));
}

/**
 * Writes until a write succeeds, and then every `everyMs`, again and again. A write that has not settled when the next one is due
 * counts as failed, so that a connection that hangs holds up nothing.
 */
function keepWriting(write: () => Promise<unknown>, everyMs: number, timers: Timers): KeptNote {
  let isClosed = false;
  let cancel = () => {};
  const schedule = (delayMs: number, retryMs: number) => {
    cancel();
    if (!isClosed) cancel = timers.inBackground(Math.min(delayMs, MAX_TIMER_MS), () => attempt(retryMs));
  };
  const attempt = (retryMs: number): Promise<void> => {
    const delayMs = Math.min(retryMs, MAX_RETRY_MS, everyMs);
    schedule(delayMs, 2 * delayMs);
    const written = write().then(() => schedule(everyMs, FIRST_RETRY_MS));
    written.catch(() => {}); // The next one is scheduled.
    return written;
  };
  const ready = attempt(FIRST_RETRY_MS);
  const close = () => {
    isClosed = true;
    cancel();
  };
  return { ready, close };
}

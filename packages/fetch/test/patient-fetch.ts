import type { ManualClock } from '@rollgate/core';
import { createFetch, type FetchOptions, type WaitEvent } from '../src';

/** A fetch whose waits pass at once, on the clock of the tests. It adds them to `waits`. */
export function createPatientFetch(clock: ManualClock, waits: WaitEvent[], options: FetchOptions) {
  const onWait = (event: WaitEvent) => {
    waits.push(event);
    options.onWait?.(event);
    clock.advance(event.waitMs);
  };
  return createFetch({ maxWait: '2h', ...options, onWait });
}

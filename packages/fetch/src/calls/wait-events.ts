import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Decision } from '@rollgate/core';
import { type WaitEvent, waits } from '../events.js';
import type { ResolvedFetchOptions } from '../options/resolve-options.js';
import { warnOfError } from '../warn-of-error.js';
import type { CallPlan } from './call-planner.js';

/** Publishes that calls have to wait. */
export class WaitEvents {
  constructor(private readonly options: Pick<ResolvedFetchOptions, 'limiter' | 'onWait'>) {}

  get hasSubscribers(): boolean {
    return this.options.onWait !== undefined || waits.hasSubscribers;
  }

  /** Publishes that a call has to wait, unless it starts within this turn of the event loop. */
  async publishIfWaiting(
    { request, bucket, route, key, cost, limits }: CallPlan,
    started: Promise<Decision>,
  ): Promise<void> {
    let isWaiting = true;
    const end = () => {
      isWaiting = false;
    };
    started.then(end, end);
    const decision = await this.options.limiter.peek(key, { cost, limits }).catch(() => undefined);
    await nextTurn();
    if (!isWaiting || decision === undefined) return;
    this.publish({ request, bucket, route, waitMs: decision.retryAfterMs, violated: decision.violated });
  }

  publish(event: WaitEvent): void {
    waits.publish(event);
    void this.#callOnWait(event);
  }

  /** The function may be asynchronous. The call does not wait for it. */
  async #callOnWait(event: WaitEvent): Promise<void> {
    try {
      await this.options.onWait?.(event);
    } catch (error) {
      warnOfError('ROLLGATE_ON_WAIT_FAILED', 'The option `onWait` failed, and the call waits nevertheless', error);
    }
  }
}

import { pause } from './pause.js';
import type { Playground } from './playground.js';
import type { Send } from './scenario-run.js';

/** Sends requests to the limit itself, without HTTP. A page does that when it has no server. */
export function createDirectSend(playground: Playground): Send {
  return async (run, signal) => {
    if (signal.aborted) return 'canceled';
    const decision = await playground.check();
    const abort = playground.record(decision, run);
    try {
      await pause(decision.delayMs, signal);
    } catch {
      abort();
      return 'canceled';
    }
    const { allowed, limit, remaining, retryAfterMs, delayMs } = decision;
    const fields = { limit, remaining, retryAfterMs, delayMs };
    return {
      status: 'Decision',
      outcome: allowed ? 'allowed' : 'rejected',
      fields: Object.entries(fields).map(([name, value]) => [name, String(Math.round(value * 1000) / 1000)] as const),
    };
  };
}

import type { Call, Caller } from './caller.js';
import type { Names } from './schedules.js';
import type { ProcessLimiter } from './simulated-process.js';
import type { VirtualTime } from './virtual-time.js';

/** A caller and one of its limiters. */
interface CallerLimiter {
  readonly caller: Caller;
  readonly limiter: ProcessLimiter;
}

const ROUND_MICROS = 250_000;
/** A probe is due every eight seconds at least. The check after it ends the outage. */
const ROUNDS = 36;
/** A store has recovered when it responds after a second without a failure. */
const RECOVERY_MICROS = 1_100_000;

/** Calls all limiters until the store decides for each, and once more when the outage must be over. */
export async function awaitRecovery(
  callers: readonly Caller[],
  time: VirtualTime,
  runUntil: (micros: number) => Promise<void>,
): Promise<void> {
  const all = callers.flatMap((caller) => caller.limiters.map((limiter) => ({ caller, limiter })));
  let degraded: readonly CallerLimiter[] = all;
  for (let round = 0; degraded.length > 0; round++) {
    if (round === ROUNDS)
      throw new Error(`Never recovered: ${JSON.stringify(degraded.map(({ limiter }) => limiter.spec))}`);
    const calls = startChecks(degraded, time, ['ann', 'all']);
    await runUntil(time.micros + ROUND_MICROS);
    degraded = degraded.filter((_, index) => calls[index]!.decision?.degraded !== false);
  }
  await runUntil(time.micros + RECOVERY_MICROS);
  startChecks(all, time, ['bob', 'ann']);
  await runUntil(time.micros + ROUND_MICROS);
}

/** Starts one check for each limiter. The checks are sent when the time advances. */
function startChecks(limiters: readonly CallerLimiter[], time: VirtualTime, names: Names): Call[] {
  const calls: Call[] = [];
  for (const { caller, limiter } of limiters) {
    const check = () => calls.push(caller.decide('check', limiter, names, 1));
    time.at(time.micros, 'socket', check, caller.process);
  }
  return calls;
}

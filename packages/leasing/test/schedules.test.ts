import { effort, seed } from '@rollgate/test-support/effort';
import { run, type Schedule } from './support/schedule.js';

const SCHEDULES = effort(64, 5000);
/** A longer window has as many steps. */
const WINDOWS_MS = effort([300, 600], [300, 1000, 10_000, 60_000, 3_600_000]);

/** Draws the settings of a schedule from its number. */
function scheduleOf(number: number): Schedule {
  const pick = <Value>(values: readonly Value[], index: number): Value =>
    values[Math.floor(number / 2 ** index) % values.length]!;
  const windowMs = pick(WINDOWS_MS, 0);
  const leaseMs = Math.floor(windowMs / pick([10, 30, 50], 2));
  const stepMs = Math.max(1, windowMs / 600);
  return {
    seed: seed * 100_003 + number,
    limit: pick([20, 200, 1000], 1),
    windowMs,
    leaseMs,
    minDecisions: pick([1, 4], 5),
    processes: pick([1, 2, 4, 8], 3),
    load: pick([0.5, 0.8, 0.95, 1.5, 4], 4),
    latencyMs: leaseMs * pick([0.02, 0.1, 0.6], 1),
    faults: pick([0, 0.1], 0),
    stops: pick([0, 0.003], 2),
    refunds: pick([0, 0.3], 3),
    restarts: pick([false, false, false, true], 1),
    lowers: pick([false, false, true], 2),
    stepMs,
    steps: (2.5 * windowMs) / stepMs,
  };
}

test('no window of a random schedule has more units than the limit', async () => {
  let [leasedCount, allowedCount] = [0, 0];
  for (let number = 0; number < SCHEDULES; number++) {
    const schedule = scheduleOf(number);
    const { most, mostLowered, calls, requested, allowed, leased } = run(schedule);
    const isAbove = most > schedule.limit || mostLowered > schedule.limit / 2;
    const wrong = isAbove || (allowed === 0 && requested > 0 && schedule.faults === 0);
    if (wrong) throw new Error(JSON.stringify({ schedule, most, mostLowered, calls, requested, allowed }));
    leasedCount += leased;
    allowedCount += allowed;
    await new Promise(setImmediate); // Weak references keep their targets until the end of the turn.
  }
  // Otherwise the schedules would only show what the store decides.
  expect(leasedCount).toBeGreaterThan(allowedCount / 6);
});

import fc from 'fast-check';
import type { Outcome } from './outcome.js';
import type { RealRedis } from './real-redis.js';
import { type Schedule, schedules } from './schedules.js';
import { Simulation } from './simulation.js';

/** The failure of a seed, with the command that replays it. */
export class SeedError extends Error {
  constructor(
    seed: number,
    /** The smallest failing schedule that was found. */
    readonly schedule: Schedule,
    cause: unknown,
  ) {
    const reason = (cause as Error).message; // May be from another realm, so `instanceof` does not work.
    const command = `ROLLGATE_SEED=${seed} npx jest packages/redis/test/simulation.test.ts`;
    super(`${reason}\nTo replay: ${command}\nSmallest schedule: ${JSON.stringify(schedule)}`, { cause });
    this.name = 'SeedError';
  }
}

/**
 * Runs the schedule of a seed.
 *
 * @throws SeedError if a result is wrong, with the smallest schedule that `shrinks` attempts found.
 */
export async function runSeed(seed: number, redis: RealRedis, shrinks = true): Promise<Outcome> {
  let outcome: Outcome | undefined;
  const property = fc.asyncProperty(schedules, async (schedule) => {
    outcome = await Simulation.run(schedule, redis);
  });
  const details = await fc.check(property, { seed, numRuns: 1, unbiased: true, endOnFailure: !shrinks });
  if (details.failed) throw new SeedError(seed, details.counterexample![0], details.errorInstance);
  return outcome!;
}

/** Whether this run is `npm run test:thorough`, which tries far more than `npm test`. */
const isThorough = process.env.ROLLGATE_THOROUGH === '1';

/** Returns `quick` in `npm test` and `thorough` in `npm run test:thorough`. */
export function effort<Amount>(quick: Amount, thorough: Amount): Amount {
  return isThorough ? thorough : quick;
}

/** The seed in `ROLLGATE_SEED`, which replays a failure. */
export const givenSeed: number | undefined = seedOf(process.env.ROLLGATE_SEED);

/**
 * The seed of all random histories. `npm test` always takes the same one, so that only a change makes it fail.
 * `npm run test:thorough` sets a new one each time.
 */
export const seed: number = givenSeed ?? 1;

/** fast-check's options for the number of runs, and the seed. */
export function randomRuns(quick: number, thorough: number): { numRuns: number; seed: number } {
  return { numRuns: effort(quick, thorough), seed };
}

function seedOf(text: string | undefined): number | undefined {
  if (text === undefined || text === '') return undefined;
  const seed = Number(text);
  if (!Number.isSafeInteger(seed))
    throw new TypeError(
      `Expected ROLLGATE_SEED to be an integer, got ${JSON.stringify(text)}. Copy the seed that the failed run printed`,
    );
  return seed;
}

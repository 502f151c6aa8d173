/** Whether this run is `npm run test:thorough`, which tries far more than `npm test`. */
const isThorough = process.env.ROLLGATE_THOROUGH === '1';

/** Returns `quick` in `npm test` and `thorough` in `npm run test:thorough`. */
export function effort<Amount>(quick: Amount, thorough: Amount): Amount {
  return isThorough ? thorough : quick;
}

/** The seed in `ROLLGATE_SEED`, which replays a failure. */
export const givenSeed: number | undefined = numberOf('ROLLGATE_SEED', 'Copy the seed that the failed run printed');

/**
 * The seed of all random histories. `npm test` always takes the same one, so that only a change makes it fail.
 * `npm run test:thorough` sets a new one each time.
 */
export const seed: number = givenSeed ?? 1;

const givenMinutes = numberOf('ROLLGATE_FAULT_MINUTES', 'For example, set 10');

/** How many milliseconds random faults last: `ROLLGATE_FAULT_MINUTES`, or `quick` or `thorough` as in `effort`. */
export function faultsMs(quick: number, thorough: number): number {
  return givenMinutes === undefined ? effort(quick, thorough) : givenMinutes * 60_000;
}

/** fast-check's options for the number of runs, and the seed. */
export function randomRuns(quick: number, thorough: number): { numRuns: number; seed: number } {
  return { numRuns: effort(quick, thorough), seed };
}

function numberOf(variable: string, fix: string): number | undefined {
  const text = process.env[variable];
  if (text === undefined || text === '') return undefined;
  const number = Number(text);
  if (!Number.isSafeInteger(number))
    throw new TypeError(`Expected ${variable} to be an integer, got ${JSON.stringify(text)}. ${fix}`);
  return number;
}

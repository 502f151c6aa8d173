/** Whether this is `npm run test:thorough`, which tries far more than `npm test`. */
const isThorough = process.env.ROLLGATE_THOROUGH === '1';

/** How much of something a test does: `quick` in `npm test`, `thorough` in `npm run test:thorough`. */
export function effort<Amount>(quick: Amount, thorough: Amount): Amount {
  return isThorough ? thorough : quick;
}

/** The seed of all random histories, to replay a run; `undefined` lets each property pick its own. */
export const seed: number | undefined = seedOf(process.env.ROLLGATE_SEED);

/** How fast-check runs a property. */
export function randomRuns(quick: number, thorough: number): { numRuns: number; seed?: number } {
  return { numRuns: effort(quick, thorough), ...(seed !== undefined && { seed }) };
}

function seedOf(text: string | undefined): number | undefined {
  if (text === undefined || text === '') return undefined;
  const seed = Number(text);
  if (!Number.isSafeInteger(seed)) throw new TypeError(`Expected ROLLGATE_SEED to be an integer, got ${text}`);
  return seed;
}

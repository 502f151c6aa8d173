import { testFiles } from './support/test-files.js';

/** Matches what tries random input. */
const RANDOM_INPUT = /\bfc\.(?:assert|check|sample)\(|\b(?:describeStore|checks)\(/;

/** Matches a seed from `@rollgate/test-support/effort`, or one of the test's own. */
const SEED = /\bseed\b|\brandomRuns\(/;

/** Run only checks that are not random: those of steps of the clock, and the vectors. The last one runs none, but reads their names. */
const WITHOUT_SEED = [
  'packages/redis/test/clock-steps.test.ts',
  'packages/redis/test/vectors.test.ts',
  'test/guarantee-commands.test.ts',
];

test('each test of random input has a seed, so that only a change can make it fail', () => {
  const random = testFiles().filter(({ path, text }) => path !== __filename && RANDOM_INPUT.test(text));
  expect(random.length).toBeGreaterThan(10);
  expect(random.filter(({ text }) => !SEED.test(text)).map(({ name }) => name)).toEqual(WITHOUT_SEED);
});

import './simulation/process-clocks.js';
import { effort, givenSeed, seed } from '@rollgate/test-support/effort';
import type { Coverage } from './simulation/coverage.js';
import { plantedDefects } from './simulation/planted-defects.js';
import { RealRedis } from './simulation/real-redis.js';
import { runSeed, SeedError } from './simulation/seeds.js';
import { Simulation } from './simulation/simulation.js';

const FIRST = seed;
const isReplay = givenSeed !== undefined && effort(true, false);
const COUNT = isReplay ? 1 : effort(160, 20_000);
const BLOCK = effort(20, 500);
const blocks = Array.from({ length: Math.ceil(COUNT / BLOCK) }, (_, index) => FIRST + index * BLOCK);

let redis: RealRedis;
beforeAll(async () => {
  redis = await RealRedis.start();
});
afterAll(() => redis.stop());

const coverage: Partial<Coverage> = {};
const failures = new Map<number, Promise<SeedError | undefined>>();

/** Runs a block once, for the test of the block or for another one that needs the coverage of all. */
function failureOfBlock(first: number): Promise<SeedError | undefined> {
  const failure = failures.get(first) ?? failureFrom(first, Math.min(BLOCK, FIRST + COUNT - first), true);
  failures.set(first, failure);
  return failure;
}

/** The seeds from `first` on, until one fails. */
async function failureFrom(first: number, count: number, shrinks: boolean): Promise<SeedError | undefined> {
  for (let seed = first; seed < first + count; seed++) {
    try {
      const outcome = await runSeed(seed, redis, shrinks);
      for (const [what, times] of Object.entries(outcome.coverage) as [keyof Coverage, number][]) {
        coverage[what] = (coverage[what] ?? 0) + times;
      }
    } catch (error) {
      if (!(error instanceof SeedError)) throw error;
      return error;
    }
  }
  return undefined;
}

test.each(blocks)('processes on a faulty network keep every guarantee: schedules from seed %d on', async (first) => {
  const failure = await failureOfBlock(first);
  if (failure !== undefined) throw failure;
});

if (!isReplay) {
  test('the schedules cover all events, and few results stay open', async () => {
    for (const first of blocks) await failureOfBlock(first);
    if (effort(false, true)) console.info(COUNT, 'schedules', coverage);
    const { 'without a model': open, ...covered } = coverage;
    for (const [what, times] of Object.entries(covered)) expect([what, times > 0]).toEqual([what, true]);
    expect(open).toBeLessThan(COUNT / 10);
  });

  test('a seed always produces the same run', async () => {
    for (const seed of [FIRST, FIRST + 1, FIRST + 2]) {
      const { trace } = await runSeed(seed, redis);
      expect((await runSeed(seed, redis)).trace).toBe(trace);
    }
  });

  test.each(plantedDefects)(
    'the same schedules find a planted defect: $name',
    async ({ plant, symptom, fromSeed = 1 }) => {
      const undo = plant();
      try {
        expect((await failureFrom(fromSeed, COUNT, false))?.message).toMatch(symptom);
      } finally {
        undo();
      }
    },
  );

  test('shrinks a failing schedule, which then fails again', async () => {
    const { plant, symptom } = plantedDefects[0]!;
    const undo = plant();
    try {
      // The schedule of seed 80 has twelve steps. Others need ten times as many runs until they are shrunk.
      const failure = (await failureFrom(80, 160, true))!;
      expect(failure.message).toMatch(/ROLLGATE_SEED=\d+ npx jest packages\/redis\/test\/simulation.test.ts/);
      expect(failure.schedule.steps.length).toBeLessThanOrEqual(6);
      await expect(Simulation.run(failure.schedule, redis)).rejects.toThrow(symptom);
    } finally {
      undo();
    }
  });
}

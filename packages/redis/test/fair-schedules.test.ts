import { rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { bundleProgram } from '@rollgate/test-support/bundle-program';
import { effort, seed } from '@rollgate/test-support/effort';
import { createWaitSchedule } from './support/wait-schedule.js';
import { type WaitFigures, WaitTrial } from './support/wait-trial.js';

/** How many schedules to run, how many of them at once, and how many processes and callers in each a schedule has at most. */
const { SCHEDULES, TOGETHER, PROCESSES, CALLERS } = effort(
  { SCHEDULES: 3, TOGETHER: 3, PROCESSES: 4, CALLERS: 4 },
  { SCHEDULES: 200, TOGETHER: 4, PROCESSES: 8, CALLERS: 5 },
);
/** How much the clocks of the processes and of the server may differ within a window. */
const CLOCKS_MS = 2;

const program = bundleProgram(`${__dirname}/support/waiting-process.mjs`);
afterAll(() => rmSync(dirname(program), { recursive: true }));

/** The seeds of the schedules in which something was wrong, and what they have shown. */
function problemsOf(all: readonly (WaitFigures & { readonly limit: number })[]) {
  return all.filter(
    ({ lost, mostInLog, tooCloseMs, limit }) => lost.length > 0 || mostInLog > limit || tooCloseMs > CLOCKS_MS,
  );
}

test('callers of several processes start within the limit, whatever happens to them', async () => {
  const all: (WaitFigures & { limit: number })[] = [];
  for (let first = seed; first < seed + SCHEDULES; first += TOGETHER) {
    const schedules = Array.from({ length: TOGETHER }, (_, index) =>
      createWaitSchedule(first + index, PROCESSES, CALLERS),
    );
    const trials = await Promise.all(schedules.map((schedule) => WaitTrial.run(schedule, program)));
    const figures = trials.map((trial, index) => ({ limit: schedules[index]!.limit, ...trial }));
    all.push(...figures);
    if (process.env.ROLLGATE_PRINT === '1') process.stdout.write(`${JSON.stringify(figures)}\n`);
  }
  expect(problemsOf(all)).toEqual([]);
  expect(all.some(({ started, mostInLog, limit }) => started > 0 && mostInLog === limit)).toBe(true);
});

import { explore } from '@rollgate/explorer';
import { effort, seed } from '@rollgate/test-support/effort';
import { ASSIGNED_SCOPES, LARGE_ASSIGNED_SCOPES } from './queue-model/assigned-scopes.js';
import { DEFECTS } from './queue-model/defects.js';
import { ExploredQueues, runTogether } from './queue-model/explore-queues.js';
import { QueueModel } from './queue-model/queue-model.js';
import { simulate } from './queue-model/schedules.js';
import { LARGE_SCOPES, SCOPES } from './queue-model/scopes.js';
import { PrivateRedis } from './support/private-redis.js';

const redis = PrivateRedis.forThisFile();

/** How many states of each scope to reach, and how many are extended for each one that continues without faults. */
const [STATES, PER_TRIED] = effort([900, 100], [600_000, 500]) as [number, number];

const ALL_SCOPES = { ...SCOPES, ...ASSIGNED_SCOPES };

test.each(Object.entries(ALL_SCOPES))(
  '%s: starts stay within the limits, and no caller waits forever',
  async (name, scope) => {
    const model = new QueueModel(redis.connect() as never, scope);
    const queues = new ExploredQueues(model, PER_TRIED);
    const { finding, states } = await explore(queues, { states: STATES, order: 'newest' });
    expect(finding).toBeUndefined();
    if (process.env.ROLLGATE_PRINT === '1')
      process.stdout.write(`${name}: ${states} states, ${queues.extended} extended, ${queues.tried} continued\n`);
  },
);

/** How many random schedules run in each large scope, and how many of them together. */
const [SCHEDULES, TOGETHER] = effort([20, 20], [5000, 200]) as [number, number];

test.each(Object.entries({ ...LARGE_SCOPES, ...LARGE_ASSIGNED_SCOPES }))(
  'random schedules in %s: starts stay within the limits, and no caller waits forever',
  async (_, scope) => {
    for (let first = seed; first < seed + SCHEDULES; first += TOGETHER) {
      const model = new QueueModel(redis.connect() as never, scope);
      const schedules = Array.from({ length: TOGETHER }, (_, index) => {
        const state = structuredClone(model.initial);
        return { state, steps: simulate(model, state, first + index, 60) };
      });
      const problems = await runTogether(model, schedules);
      const found = problems.flatMap((problem, index) => (problem ? [`${problem} with seed ${first + index}`] : []));
      expect(found).toEqual([]);
    }
  },
);

/** The others take longer. */
const QUICK_DEFECTS = [
  'a new ticket overtakes',
  'a start ahead ends the log before it',
  'a check counts from the newest hit',
  'a check looks into no queue',
];

test.each(effort(QUICK_DEFECTS, Object.keys(DEFECTS)))('finds a planted defect: %s', async (name) => {
  const { scope, from = '', to = '', changes, order = 'newest' } = DEFECTS[name]!;
  let isPlanted = false;
  // Only scripts with changes contain the code of refunds.
  const plant = (script: string) => {
    isPlanted ||= script.includes(from);
    return from === '' ? script : script.replaceAll(from, () => to);
  };
  const model = new QueueModel(redis.connect() as never, { ...ALL_SCOPES[scope]!, ...changes }, plant);
  const { finding, states } = await explore(new ExploredQueues(model, 10), { states: 100_000, order });
  if (process.env.ROLLGATE_PRINT === '1') process.stdout.write(`${name}: ${finding?.problem} after ${states} states\n`);
  expect(isPlanted).toBe(true);
  expect(finding).toBeDefined();
});

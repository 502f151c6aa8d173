import { explore } from '@rollgate/explorer';
import { effort, seed } from '@rollgate/test-support/effort';
import { createRandom } from '@rollgate/test-support/random';
import { LeasingModel } from './model/leasing-model.js';
import { type Scope, World } from './model/world.js';

/** Three steps lead to a time at which a unit has left the store's window, unless its lease was spent for too long. */
const base: Scope = {
  limit: 3,
  leaseMs: 5,
  windowMs: 50,
  processes: 2,
  checks: 3,
  steps: [3, 49],
  ticks: 3,
  messages: 2,
};
/** Few enough events for all orders. The server decides the plain checks of other processes. */
const alone: Scope = { ...base, processes: 1, plainChecks: 3, messages: 1 };
/** After the first step, a lease has ended by the time of the server, and by a slow clock only because of `clockDrift`. */
const slow: Scope = { ...alone, leaseMs: 2000, windowMs: 20_000, steps: [2000.5, 19_999.75], skew: 0.001, ticks: 2 };

const SCOPES: readonly [string, Scope][] = [
  ['one process next to plain checks', alone],
  ['a refund', { ...alone, refunds: 1, plainChecks: 1, ticks: 2 }],
  ['two processes', base],
  ['three processes', { ...base, limit: 2, checks: 2, processes: 3 }],
  ['a lost message', { ...base, losses: 1 }],
  ['a repeated check', { ...base, repeats: 1 }],
  ['refunds', { ...base, refunds: 2 }],
  ['a refund and a lost message', { ...base, refunds: 1, losses: 1 }],
  ['a killed process', { ...base, kills: 1 }],
  ['a lowered limit', { ...base, lowerings: 1 }],
  ['a reset', { ...base, resets: 1 }],
  ['a slow clock', slow],
];

test.each(SCOPES)('no order of events allows too much: %s', async (_, scope) => {
  const { finding, states } = await explore(new LeasingModel(scope), { states: effort(1500, 150_000), order: 'any' });
  expect(finding).toBeUndefined();
  expect(states).toBeGreaterThan(1000);
});

/** Has too many orders to try all of them. */
const large: Scope = {
  ...{ limit: 200, leaseMs: 20, windowMs: 200, skew: 0.001, maxShare: 0.5 },
  ...{ processes: 4, checks: Infinity, messages: 40, steps: [0.5, 2, 5], ticks: Infinity },
};
const faults = { losses: 20, repeats: 20, refunds: 100 };

const LARGE_SCOPES: readonly [string, Scope][] = [
  ['one process', { ...large, processes: 1 }],
  ['eight processes', { ...large, processes: 8, maxShare: 0.1 }],
  ['units of several decisions', { ...large, minDecisions: 2 }],
  ['faults', { ...large, ...faults }],
  ['faults, kills and resets', { ...large, ...faults, kills: 3, resets: 3 }],
  ['faults of a limit that is lowered', { ...large, ...faults, lowerings: 5 }],
];

const SCHEDULES = effort(2, 800);

/** Takes random actions in a world. Faults are rare, and some checks are many together. Returns what is wrong, if anything is. */
function runRandomly(world: World, random: () => number): string | undefined {
  const pick = <Value>(values: readonly Value[]): Value => values[Math.floor(random() * values.length)]!;
  const kindOf = (action: string) => action.split(' ')[0]!;
  for (let step = 0; step < 1500; step++) {
    const actions = world.actions();
    const kinds = [...new Set(actions.map(kindOf))];
    const usual = kinds.filter((kind) => ['check', 'execute', 'reply', 'sweep', 'advance'].includes(kind));
    const kind = pick(random() < 0.02 ? kinds : usual);
    const action = pick(actions.filter((action) => kindOf(action) === kind));
    // Before time passes, a window may have the most units.
    const problem = kind === 'advance' ? world.verify() : undefined;
    if (problem !== undefined) return problem;
    for (let times = kind === 'check' ? Math.min(50, 2 / random()) : 1; times > 0; times--) world.run(action);
  }
  return undefined;
}

test.each(LARGE_SCOPES)('no random schedule allows too much: %s', (_, scope) => {
  let [allowed, leased] = [0, 0];
  for (let own = seed; own < seed + SCHEDULES; own++) {
    const world = new World(scope);
    const problem = runRandomly(world, createRandom(own));
    expect([own, problem]).toEqual([own, undefined]);
    allowed += world.allowedCount;
    leased += world.leasedCount;
  }
  // Otherwise the schedules would only show what the store decides.
  expect(leased).toBeGreaterThan(allowed / 6);
});

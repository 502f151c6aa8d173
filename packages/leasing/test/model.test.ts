import { explore } from '@rollgate/explorer';
import { effort } from '@rollgate/test-support/effort';
import { LeasingModel } from './model/leasing-model.js';
import type { Scope } from './model/world.js';

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
];

test.each(SCOPES)('no order of events allows too much: %s', async (_, scope) => {
  const { finding, states } = await explore(new LeasingModel(scope), { states: effort(1500, 150_000), order: 'any' });
  expect(finding).toBeUndefined();
  expect(states).toBeGreaterThan(1000);
});

import { KeyChangeTracker } from '../src/denials/key-change-tracker';

test('a key is tracked until all groups of denials that use it are released', () => {
  const tracker = new KeyChangeTracker();
  tracker.track(['ann', 'bob'], 'plan');
  tracker.track(['ann'], 'other');
  tracker.release(['ann', 'bob']);
  expect([tracker.has('ann'), tracker.has('bob')]).toEqual([true, false]);
  tracker.release(['ann']);
  expect(tracker.isEmpty).toBe(true);
});

import { DenialGroups } from '../src/denials/denial-groups.js';
import type { CheckInput } from '../src/operations/operations.js';

test('a key has all groups that use it until they are deleted', () => {
  const groups = new DenialGroups();
  const [one, other] = [['ann', 'bob'], ['ann']].map((keys) => {
    return groups.add({ encodedPlan: { text: '[]' }, keys } as unknown as CheckInput);
  });
  expect([groups.ofKeys(['ann']), groups.ofKeys(['bob'])]).toEqual([[one, other], [one]]);
  groups.delete(one!);
  expect([groups.ofKeys(['ann']), groups.ofKeys(['bob'])]).toEqual([[other], []]);
  groups.delete(other!);
  expect(groups.ofKeys(['ann'])).toEqual([]);
});

import { collectGarbage } from '@rollgate/test-support';
import { DenialGroups } from '../src/denials/denial-groups.js';
import type { CheckInput } from '../src/operations/operations.js';

const inputOf = (...keys: string[]) => ({ encodedPlan: { text: '[]' }, keys }) as unknown as CheckInput;

test('a key has all groups that use it until they are deleted', () => {
  const groups = new DenialGroups();
  const [one, other] = [['ann', 'bob'], ['ann']].map((keys) => groups.add(inputOf(...keys)));
  expect([groups.ofKeys(['ann']), groups.ofKeys(['bob'])]).toEqual([[one, other], [one]]);
  groups.delete(one!);
  expect([groups.ofKeys(['ann']), groups.ofKeys(['bob'])]).toEqual([[other], []]);
  groups.delete(other!);
  expect(groups.ofKeys(['ann'])).toEqual([]);
});

test('keys without groups take no memory', () => {
  const groups = new DenialGroups();
  const heapAfter = (keyCount: number) => {
    for (let index = 0; index < keyCount; index++) groups.delete(groups.add(inputOf(`key ${index}`)));
    collectGarbage();
    return process.memoryUsage().heapUsed;
  };
  const before = heapAfter(1000);
  expect(heapAfter(20_000) - before).toBeLessThan(1e6); // An empty set for each key would take four megabytes.
});

import { randomRuns } from '@rollgate/test-support/effort';
import fc from 'fast-check';
import { PriorityQueue } from '../src/base/priority-queue.js';

test('the first member has the lowest priority value, whichever members move or leave', () => {
  const priority = fc.integer({ min: 0, max: 20 });
  const action = fc.record({ kind: fc.constantFrom('add', 'move', 'remove'), which: fc.nat(), priority });
  const property = fc.property(fc.array(action, { maxLength: 60, size: 'max' }), (actions) => {
    const queue = new PriorityQueue<{ priority: number; queueIndex: number }>();
    const members: { priority: number; queueIndex: number }[] = [];
    for (const { kind, which, priority } of actions) {
      const at = which % Math.max(1, members.length);
      const member = members[at];
      if (kind === 'add' || member === undefined) {
        const added = { priority: 0, queueIndex: -1 };
        members.push(added);
        queue.set(added, priority);
      } else if (kind === 'move') {
        queue.set(member, priority);
      } else {
        queue.remove(member);
        members.splice(at, 1);
      }
      const lowest = Math.min(...members.map((one) => one.priority));
      expect(queue.first?.priority ?? Infinity).toBe(lowest);
    }
  });
  fc.assert(property, randomRuns(300, 10_000));
});

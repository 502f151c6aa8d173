import { Lease } from '../src/lease.js';

/** The settlements that were sent, and what ends each of them. */
let sent: { readonly units: number; readonly succeed: () => void; readonly fail: (error: unknown) => void }[];
beforeEach(() => {
  sent = [];
});

/** Creates a lease of ten units, all of them spent. */
function createSpentLease(): Lease {
  const settle = (_: unknown, units: number) =>
    new Promise<void>((resolve, reject) => {
      sent.push({ units, succeed: resolve, fail: reject });
    });
  const lease = new Lease(10, Infinity, 'receipt', settle);
  lease.spend(10);
  return lease;
}

const unitsSent = () => sent.map(({ units }) => units);

test('settlements of a lease follow each other, and each has all refunds so far', async () => {
  const lease = createSpentLease();
  lease.close();
  const refunds = [lease.giveBack(3), lease.giveBack(1), lease.giveBack(1)];
  expect(unitsSent()).toEqual([7]);
  sent[0]!.succeed();
  await refunds[0];
  await Promise.resolve();
  expect(unitsSent()).toEqual([7, 5]);
  sent[1]!.succeed();
  await Promise.all(refunds);
  lease.giveBack(0);
  expect(unitsSent()).toEqual([7, 5]);
});

test('after a settlement that may be lost, there is no other one', async () => {
  const lease = createSpentLease();
  lease.close();
  const refund = lease.giveBack(3);
  sent[0]!.fail(new Error('lost'));
  await expect(refund).rejects.toThrow('lost');
  await lease.giveBack(2);
  expect(unitsSent()).toEqual([7]);
});

import type { Limit } from '@rollgate/core';
import { type LeasedLimit, reservesUnits } from '@rollgate/core/store';
import { scriptNameOf } from '../operations/algorithm-registry.js';
import type { RenewedLease } from '../operations/operations.js';
import type { RedisHit, RedisReceipt } from '../operations/receipt.js';
import { hashTagOf } from '../operations/redis-keys.js';
import type { OperationSender } from '../sending/operation-sender.js';
import { groupBy } from '../util/group-by.js';

/**
 * The most leases that one operation renews. After such an operation, a script leaves the rest of its batch to the next
 * script, so that Redis serves other clients in between.
 */
const MAX_LEASES = 400;

/** The leases that the check with this receipt took and that have not ended yet. */
export function leasesOf({ encodedPlan, hits }: RedisReceipt): RedisHit[] {
  const { rules } = encodedPlan.plan;
  return hits.filter(({ index, cost, ended }) => cost > 0 && ended === undefined && rules[index]!.limit.leaseMicros);
}

/** Whether the check reserved the units of this hit. A settlement may have spent them since. */
export function isReservation({ encodedPlan }: RedisReceipt, { index, cost }: RedisHit): boolean {
  return cost > 0 && reservesUnits(encodedPlan.plan.rules[index]!.limit);
}

/** A lease with each number of units that it may have in Redis. */
export function possibleHits(hit: RedisHit): RedisHit[] {
  return hit.formerCost === undefined ? [hit] : [hit, { ...hit, cost: hit.formerCost }];
}

/** Records that Redis has settled these hits. */
export function confirmSettlement(hits: readonly RedisHit[]): void {
  for (const hit of hits) if (hit.formerCost !== undefined) hit.formerCost = undefined;
}

/**
 * Extends the leases of all receipts. Returns the receipts of which a lease is lost. Rejects if an operation fails.
 *
 * @param isCluster Whether the leases of different hash tags need different operations.
 */
export async function renewLeases(
  receipts: readonly RedisReceipt[],
  sender: Pick<OperationSender, 'add'>,
  clockMicros: number | undefined,
  isCluster: boolean,
): Promise<RedisReceipt[]> {
  const sent: Promise<RedisReceipt[]>[] = [];
  const leases = receipts.flatMap((receipt) => leasesOf(receipt).map((hit): OwnedLease => ({ receipt, hit })));
  for (const group of groupLeases(leases, isCluster)) {
    for (let start = 0; start < group.length; start += MAX_LEASES) {
      // One operation per turn. In one batch, each script would get all operations that the ones before it have left.
      if (start > 0) await new Promise((resolve) => setImmediate(resolve));
      const renewed = renewOnce(group.slice(start, start + MAX_LEASES), sender, clockMicros);
      renewed.catch(() => {}); // `Promise.all` below rejects with the error.
      sent.push(renewed);
    }
  }
  const lost = await Promise.all(sent);
  return [...new Set(lost.flat())];
}

/** A lease with the receipt that it belongs to. */
interface OwnedLease {
  readonly receipt: RedisReceipt;
  readonly hit: RedisHit;
}

/**
 * Extends leases with one operation. Returns the receipts of those that are lost.
 *
 * Redis finds a lease by its units. So a settlement that Redis has not confirmed is repeated first, which changes nothing
 * if it has run.
 */
function renewOnce(
  owned: readonly OwnedLease[],
  sender: Pick<OperationSender, 'add'>,
  clockMicros: number | undefined,
): Promise<RedisReceipt[]> {
  // Others were released since the renewal began.
  const open = owned.filter(({ hit }) => hit.cost > 0 && hit.ended === undefined);
  for (const { receipt, hit } of open) {
    if (hit.formerCost === undefined) continue;
    sender.add({
      kind: 'settle',
      keys: [hit.key],
      number: false,
      receipt,
      hits: [{ ...hit, cost: hit.formerCost, settledCost: hit.cost }],
      clockMicros,
      resolve: () => confirmSettlement([hit]),
      reject() {}, // The next renewal repeats it.
    });
  }
  const keys = open.map(({ hit }) => hit.key);
  const leases = open.map(({ receipt, hit }): RenewedLease => {
    const { limit, leaseMicros } = limitOf(receipt, hit) as LeasedLimit;
    const first = isReservation(receipt, hit) ? receipt.stamp : limit;
    return { limit: first, leaseMicros, units: hit.cost, id: hit.atMicros };
  });
  if (leases.length === 0) return Promise.resolve([]);
  return new Promise((resolve, reject) => {
    const onRenewed = (lostIndices: readonly number[]) => resolve(lostIndices.map((index) => open[index]!.receipt));
    const script = scriptNameOf(limitOf(open[0]!.receipt, open[0]!.hit));
    sender.add({ kind: 'renew', script, keys, leases, clockMicros, resolve: onRenewed, reject });
  });
}

/**
 * One group for each algorithm, on a Cluster also for each hash tag. In a group, the leases of a key follow each other.
 */
function groupLeases(leases: readonly OwnedLease[], isCluster: boolean): Iterable<readonly OwnedLease[]> {
  const byKey = [...groupBy(leases, ({ hit }) => hit.key).values()].flat();
  const tagOf = ({ hit }: OwnedLease) => (isCluster ? hashTagOf(hit.key) : '');
  return groupBy(byKey, (one) => `${limitOf(one.receipt, one.hit).algorithm} ${tagOf(one)}`).values();
}

function limitOf({ encodedPlan }: RedisReceipt, { index }: RedisHit): Limit {
  return encodedPlan.plan.rules[index]!.limit;
}

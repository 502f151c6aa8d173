import { isLeasing, type LeasingLimit } from '@rollgate/core/store';
import type { Receipt, RecordedHit, RenewedLease, RenewOperation } from './operations.js';
import { hashTagOf } from './redis-keys.js';

/** The most leases of one operation. Redis serves no other client while it runs. */
const MAX_LEASES = 400;

/** The leases that the check with this receipt took and that were not released. */
export function leasesOf({ encodedPlan, hits }: Receipt): RecordedHit[] {
  const { rules } = encodedPlan.plan;
  return hits.filter(({ index, cost }) => cost > 0 && isLeasing(rules[index]!.limit));
}

/**
 * Extends the leases of all receipts. Returns the receipts of which a lease is lost. Rejects if an operation fails.
 *
 * @param add Sends an operation.
 * @param isCluster Whether the leases of different hash tags need different operations.
 */
export async function renewLeases(
  receipts: readonly Receipt[],
  add: (operation: RenewOperation) => void,
  clockMicros: number | undefined,
  isCluster: boolean,
): Promise<Receipt[]> {
  const lost = new Set<Receipt>();
  const sent: Promise<void>[] = [];
  const send = (leases: readonly OwnedLease[]) => {
    const keys = leases.map(({ key }) => key);
    const renewed = new Promise<readonly number[]>((resolve, reject) => {
      add({ kind: 'renew', keys, leases, clockMicros, resolve, reject });
    });
    sent.push(
      renewed.then((indices) => {
        for (const index of indices) lost.add(leases[index]!.receipt);
      }),
    );
  };
  for (const group of groupByTag(receipts.flatMap(ownedLeasesOf), isCluster)) {
    for (let start = 0; start < group.length; start += MAX_LEASES) send(group.slice(start, start + MAX_LEASES));
  }
  await Promise.all(sent);
  return [...lost];
}

/** A lease with the receipt that it belongs to. */
interface OwnedLease extends RenewedLease {
  readonly receipt: Receipt;
  readonly key: string;
}

function ownedLeasesOf(receipt: Receipt): OwnedLease[] {
  const { rules } = receipt.encodedPlan.plan;
  return leasesOf(receipt).map(({ key, index, atMicros, cost }) => {
    const { limit, leaseMicros } = rules[index]!.limit as LeasingLimit;
    return { receipt, key, limit, leaseMicros, units: cost, id: atMicros };
  });
}

function groupByTag(leases: readonly OwnedLease[], isCluster: boolean): Iterable<readonly OwnedLease[]> {
  if (!isCluster) return [leases];
  const groups = new Map<string, OwnedLease[]>();
  for (const lease of leases) {
    const tag = hashTagOf(lease.key);
    const group = groups.get(tag);
    if (group === undefined) groups.set(tag, [lease]);
    else group.push(lease);
  }
  return groups.values();
}

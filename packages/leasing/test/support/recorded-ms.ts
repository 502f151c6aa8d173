import type { LeasedReceipt } from '../../src/leased-receipt.js';

/** When a `MemoryStore` recorded what this receipt is of. */
export function recordedMs(receipt: unknown): number {
  const { hits } = receipt as { readonly hits: readonly { readonly recordedMicros: number }[] };
  return hits[0]!.recordedMicros / 1000;
}

/** When the store recorded a check, or the lease that decided it. */
export function takenMs({ spent, inner }: LeasedReceipt): number {
  return recordedMs(spent[0]?.lease.receipt ?? inner);
}

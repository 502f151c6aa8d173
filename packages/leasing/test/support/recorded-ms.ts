import { recordedHitsOf } from '@rollgate/core/limits';
import type { LeasedReceipt } from '../../src/leased-receipt.js';

/** When a `MemoryStore` recorded what this receipt is of. */
export function recordedMs(receipt: unknown): number {
  return recordedHitsOf(receipt)![0]!.recordedMicros / 1000;
}

/** When the store recorded a check, or the lease that decided it. */
export function takenMs({ spent, inner }: LeasedReceipt): number {
  return recordedMs(spent[0]?.lease.receipt ?? inner);
}

import { unboxNumber } from '../base/unbox-number.js';
import { grow } from '../limits/hit-ring.js';
import type { Limit } from '../limits/limit.js';
import { isPlainWindow } from '../limits/rolling-window.js';
import type { Rule } from '../plan/plan.js';
import type { KeyTable } from './key-table.js';
import type { Slab } from './slab.js';

/** The largest limit of a plain window, a 32-bit integer. The hits of a larger one would take 16 GiB per key. */
const MOST_UNITS = 2 ** 31 - 1;

/** Whether a {@link PlainWindowRule} can decide the limit. */
export function hasPlainWindowRule(limit: Limit): boolean {
  return isPlainWindow(limit) && limit.limit <= MOST_UNITS;
}

/**
 * The only rule of a plan, at one `MemoryStore`, if it is a plain window. `plain-window-check.ts` decides by it. It copies
 * the numbers of its limit, because V8 reads them faster from objects of one class.
 */
export class PlainWindowRule {
  readonly name: string;
  readonly limit: number;
  readonly windowMicros: number;
  readonly windowMs: number;
  readonly slab: Slab;
  /** The addresses of the rule's keys. {@link findAddresses} replaces them. */
  addresses: ReadonlyMap<string, number>;

  constructor(
    readonly rule: Rule,
    readonly table: KeyTable,
  ) {
    const { limit, windowMicros } = rule.limit;
    this.name = rule.name;
    this.limit = limit;
    this.windowMicros = windowMicros;
    this.windowMs = unboxNumber(windowMicros / 1000);
    this.slab = table.slab;
    this.addresses = table.addressesOf(rule.namespace);
  }

  /** Call it when a key is missing. Once all keys of the rule are gone, the table may use another map. */
  findAddresses(): void {
    this.addresses = this.table.addressesOf(this.rule.namespace);
  }

  /** Makes room for more hits in the full log of a key. Returns the key's new address. */
  growLog(key: string, address: number): number {
    const log = this.table.open(this.rule.namespace, key, address);
    grow(log, this.limit);
    return log.address;
  }
}

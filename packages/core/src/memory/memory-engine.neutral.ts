import { Engine } from '../engine/engine.js';
import type { Clock } from '../time/clock.js';
import { MapTable } from './map-table.neutral.js';
import type * as node from './memory-engine.js';

// The counterpart of `memory-engine.ts` in the build for bundles, which must be small. There, no check has a shorter way.

/** The operations of a `MemoryStore`. */
export class MemoryEngine extends Engine<true> {
  readonly #table: MapTable;

  constructor(
    readonly clock: Clock,
    maxKeys: number,
  ) {
    const table = new MapTable(clock, maxKeys);
    super(table);
    this.#table = table;
  }

  get size(): number {
    return this.#table.size;
  }

  close(): void {
    this.#table.clear();
  }

  toJSON(): ReturnType<node.MemoryEngine['toJSON']> {
    return [...this.#table.namespaces].flatMap(({ name: namespace, lifecycle, places }) =>
      [...places].map(([key, entry]) => ({
        namespace,
        key,
        algorithm: lifecycle.algorithm,
        state: lifecycle.describe(entry),
      })),
    );
  }
}

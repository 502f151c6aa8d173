import type { BatchStates } from '@rollgate/core/store';
import { fromHex } from './pages.js';
import type { StateCache } from './state-cache.js';

/** A row that a statement has read: key, version, page, state. Without a page, the cache has the state. */
type Row = readonly (string | null)[];

/** Returns the states that these rows have, and remembers those of several rows. */
export function parseStates(rows: readonly Row[], cache: StateCache): BatchStates {
  const parts = new Map<string, { version: string | null; pages: string[] }>();
  const states: BatchStates = new Map();
  for (const [key, version, page, state] of rows) {
    if (page === null) {
      states.set(key!, cache.confirm(key!));
      continue;
    }
    const found = parts.get(key!) ?? { version: version!, pages: [] };
    parts.set(key!, found);
    if (state !== null) found.pages.push(state!);
  }
  for (const [key, { version, pages }] of parts) {
    const numbers = pages.length === 0 ? undefined : fromHex(pages.join(''));
    states.set(key, numbers);
    if (version !== null && numbers !== undefined)
      cache.set(key, { version, numbers, isShared: cache.get(key) !== undefined });
    else cache.delete(key);
  }
  return states;
}

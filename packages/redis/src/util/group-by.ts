import { getOrInsert } from '@rollgate/core/store';

/** Groups items by name, in the order in which the names first occur. */
export function groupBy<Item>(items: readonly Item[], toName: (item: Item) => string): Map<string, Item[]> {
  const groups = new Map<string, Item[]>();
  for (const item of items) getOrInsert(groups, toName(item), () => []).push(item);
  return groups;
}

/** Returns the value of a key. If the map does not have the key, inserts the value that `create` returns. */
export function getOrInsert<K, V>(
  map: { get(key: K): V | undefined; set(key: K, value: V): unknown },
  key: K,
  create: () => V,
): V {
  let value = map.get(key);
  if (value === undefined) {
    value = create();
    map.set(key, value);
  }
  return value;
}

/** An app has few texts of limits, plans and the like. With more, as when someone builds them from requests, the oldest are dropped. */
const MOST_KEPT = 1000;

/** Like `getOrInsert`, for a cache: of more than 1,000 values, the map keeps the newest. */
export function getOrCache<K, V>(map: Map<K, V>, key: K, create: () => V): V {
  return getOrInsert(map, key, () => {
    const created = create();
    if (map.size >= MOST_KEPT) map.delete(map.keys().next().value!);
    return created;
  });
}

import { AS_TEXT, requestOwners } from '../clients/glide-topology.js';
import type { GlideClient, GlideRoute, RedisClient } from '../clients/redis-clients.js';
import { hashSlotOf } from '../util/hash-slot.js';

/** Reads some of the keys of a server that match a pattern, from a cursor on. Returns the next cursor, `0` after the last keys. */
export type Scan = (cursor: string, pattern: string) => Promise<readonly [next: string, keys: readonly string[]]>;

/** How many keys a step looks at. Most may belong to other apps, and each step takes a round trip. */
const COUNT = 1000;

/** What a client of ioredis, node-redis or Upstash has of these. */
interface Scanning {
  scan(cursor: string, ...options: unknown[]): Promise<readonly unknown[] | { cursor: unknown; keys: unknown }>;
  ping(): Promise<unknown>;
  /** Of a `Cluster` of ioredis. */
  nodes(role: string): Scanning[];
  /** Of a cluster of node-redis. */
  readonly masters: readonly object[];
  nodeClient(node: object): Scanning | Promise<Scanning>;
}

/** Returns a function for each server that has keys: one, or the primaries of a Cluster. */
export async function createScans(client: RedisClient, isCluster: boolean): Promise<Scan[]> {
  if ('customCommand' in client) return createGlideScans(client, isCluster);
  // The store needs no types of these methods, so those of the client are not part of its options.
  const scanning = client as unknown as Scanning;
  // A client that has not connected yet knows no nodes.
  if (isCluster) await scanning.ping();
  if ('isOpen' in client) {
    const nodes = isCluster ? scanning.masters.map((node) => scanning.nodeClient(node)) : [scanning];
    return (await Promise.all(nodes)).map((node) => scanOn(node, (MATCH) => [{ MATCH, COUNT }]));
  }
  if (!('status' in client)) return [scanOn(scanning, (match) => [{ match, count: COUNT }])];
  const nodes = isCluster ? scanning.nodes('master') : [scanning];
  return nodes.map((node) => scanOn(node, (pattern) => ['MATCH', pattern, 'COUNT', COUNT]));
}

/** @param toOptions Returns what the client takes behind the cursor. */
function scanOn(client: Scanning, toOptions: (pattern: string) => unknown[]): Scan {
  return async (from, pattern) => {
    const reply = await client.scan(from, ...toOptions(pattern));
    const [cursor, keys] = 'cursor' in reply ? [reply.cursor, reply.keys] : reply;
    return [String(cursor), (keys as unknown[]).map(String)];
  };
}

async function createGlideScans(client: GlideClient, isCluster: boolean): Promise<Scan[]> {
  const scanBy =
    (route?: GlideRoute): Scan =>
    async (cursor, pattern) => {
      const command = ['SCAN', cursor, 'MATCH', pattern, 'COUNT', String(COUNT)];
      const reply = await client.customCommand(command, route === undefined ? AS_TEXT : { ...AS_TEXT, route });
      return reply as [string, string[]];
    };
  if (!isCluster) return [scanBy()];
  const owners = await requestOwners(client);
  // The address of a node may be hidden, so a node is found by a key that it owns.
  const scans = new Map<string, Scan>();
  const nodeCount = new Set(Object.values(owners)).size;
  for (let number = 0; scans.size < nodeCount; number++) {
    const key = String(number);
    const owner = owners[hashSlotOf(key)];
    if (owner !== undefined && !scans.has(owner)) scans.set(owner, scanBy({ type: 'primarySlotKey', key }));
  }
  return [...scans.values()];
}

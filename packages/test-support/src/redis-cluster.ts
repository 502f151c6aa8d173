import { RedisServer } from './redis-server.js';
import { until } from './until.js';

const HASH_SLOTS = 16_384;

/** Options of {@link RedisCluster.start}. */
export interface RedisClusterOptions {
  /** The milliseconds of silence after which the other nodes vote a node out. @defaultValue 2000 */
  readonly nodeTimeoutMs?: number;
}

/** Options of {@link RedisCluster.moveHashSlot}. */
export interface MoveOptions {
  /** Runs before the first key moves, and after each key. */
  readonly onKeyMoved?: () => Promise<void>;
}

/** A Redis Cluster of masters, each with an equal share of the hash slots. */
export class RedisCluster {
  readonly nodes: readonly RedisServer[];
  readonly #args: readonly string[];
  readonly #replicas: RedisServer[] = [];
  readonly #owners: RedisServer[] = [];

  private constructor(nodes: readonly RedisServer[], args: readonly string[]) {
    this.nodes = nodes;
    this.#args = args;
    for (let hashSlot = 0; hashSlot < HASH_SLOTS; hashSlot++)
      this.#owners.push(nodes[Math.floor((hashSlot * nodes.length) / HASH_SLOTS)]!);
  }

  /** Resolves when every node knows all others and accepts commands, which takes at least two seconds. */
  static async start(nodes = 3, { nodeTimeoutMs = 2000 }: RedisClusterOptions = {}): Promise<RedisCluster> {
    const nodeTimeout = ['--cluster-node-timeout', String(nodeTimeoutMs)];
    const args = ['--cluster-enabled', 'yes', '--cluster-config-file', 'nodes.conf', ...nodeTimeout];
    const starts = Array.from({ length: nodes }, () => RedisServer.start({ args }));
    const started = await Promise.allSettled(starts);
    const nodesStarted = started.flatMap((start) => (start.status === 'fulfilled' ? [start.value] : []));
    const cluster = new RedisCluster(nodesStarted, args);
    try {
      await Promise.all(starts);
      await cluster.#join();
    } catch (error) {
      await cluster.stop();
      throw error;
    }
    return cluster;
  }

  ownerOf(hashSlot: number): RedisServer {
    return this.#owners[hashSlot]!;
  }

  /**
   * Moves a hash slot and its keys while the cluster serves commands, as an operator does.
   *
   * During the move, the old owner replies ASK for keys that have moved. It replies TRYAGAIN for commands of which only some
   * keys have moved. After the move, it replies MOVED.
   */
  async moveHashSlot(
    hashSlot: number,
    target: RedisServer,
    { onKeyMoved = async () => {} }: MoveOptions = {},
  ): Promise<void> {
    const source = this.ownerOf(hashSlot);
    if (source === target) return;
    const [sourceId, targetId] = await Promise.all([idOf(source), idOf(target)]);
    await target.run('CLUSTER', 'SETSLOT', hashSlot, 'IMPORTING', sourceId);
    await source.run('CLUSTER', 'SETSLOT', hashSlot, 'MIGRATING', targetId);
    await onKeyMoved();
    for (;;) {
      const [key] = (await source.run('CLUSTER', 'GETKEYSINSLOT', hashSlot, 1)) as string[];
      if (key === undefined) break;
      await source.run('MIGRATE', target.host, target.port, key, 0, 5000);
      await onKeyMoved();
    }
    const others = this.nodes.filter((node) => node !== source && node !== target);
    // The new owner comes first. Otherwise the hash slot would have no owner for a moment.
    for (const node of [target, source, ...others]) await node.run('CLUSTER', 'SETSLOT', hashSlot, 'NODE', targetId);
    this.#owners[hashSlot] = target;
  }

  /** Adds a replica, which replaces the node when it fails. Resolves when the replica has the node's keys. */
  async addReplica(node: RedisServer): Promise<RedisServer> {
    const replica = await RedisServer.start({ args: this.#args });
    this.#replicas.push(replica);
    await replica.run('CLUSTER', 'MEET', node.host, node.port);
    await until('the replica knows the cluster', () => isReady(replica, this.nodes.length + this.#replicas.length));
    await replica.run('CLUSTER', 'REPLICATE', await idOf(node));
    await until('the replica has the keys', async () =>
      String(await replica.run('INFO', 'replication')).includes('master_link_status:up'),
    );
    return replica;
  }

  async stop(): Promise<void> {
    await Promise.all([...this.nodes, ...this.#replicas].map((node) => node.stop()));
  }

  async #join(): Promise<void> {
    const { nodes } = this;
    await Promise.all(
      nodes.map(async (node, index) => {
        const hashSlots = [...this.#owners.keys()].filter((hashSlot) => this.ownerOf(hashSlot) === node);
        await node.run('CLUSTER', 'ADDSLOTS', ...hashSlots);
        await node.run('CLUSTER', 'SET-CONFIG-EPOCH', index + 1); // Otherwise the nodes would have equal epochs.
      }),
    );
    for (const node of nodes) {
      for (const other of nodes) if (other !== node) await node.run('CLUSTER', 'MEET', other.host, other.port);
    }
    for (const node of nodes) {
      await until(`the node of port ${node.port} knows the cluster`, () => isReady(node, nodes.length));
    }
  }
}

async function idOf(node: RedisServer): Promise<string> {
  return (await node.run('CLUSTER', 'MYID')) as string;
}

/** Whether the node accepts commands, and knows `count` nodes without a handshake in progress. */
async function isReady(node: RedisServer, count: number): Promise<boolean> {
  const info = (await node.run('CLUSTER', 'INFO')) as string;
  const others = (await node.run('CLUSTER', 'NODES')) as string;
  return (
    info.includes('cluster_state:ok') &&
    info.includes(`cluster_slots_ok:${HASH_SLOTS}`) &&
    info.includes(`cluster_known_nodes:${count}\r`) &&
    !/handshake|noaddr|fail/.test(others)
  );
}

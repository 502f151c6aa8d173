import type { RedisCluster, RedisServer } from '@rollgate/test-support';

/** How many keys are asked for at a time. */
const AT_A_TIME = 500;

/** A slot that is about to move to another node, and keys whose place it is. */
export class SlotMove {
  readonly keys: readonly string[];
  readonly #cluster: RedisCluster;
  readonly #slot: number;

  private constructor(cluster: RedisCluster, slot: number, keys: readonly string[]) {
    this.keys = keys;
    this.#cluster = cluster;
    this.#slot = slot;
  }

  /** Finds that many keys which share a slot. */
  static async make(cluster: RedisCluster, keyCount: number): Promise<SlotMove> {
    const [node] = cluster.nodes as [RedisServer];
    const keysOf = new Map<number, string[]>();
    for (let start = 0; ; start += AT_A_TIME) {
      const users = Array.from({ length: AT_A_TIME }, (_, index) => `user ${start + index}`);
      const slots = await Promise.all(users.map((user) => node.run('CLUSTER', 'KEYSLOT', `{${user}}`)));
      for (const [index, slot] of (slots as number[]).entries()) {
        const keys = [...(keysOf.get(slot) ?? []), users[index]!];
        if (keys.length === keyCount) return new SlotMove(cluster, slot, keys);
        keysOf.set(slot, keys);
      }
    }
  }

  /** Moves the slot; `between` runs before the first of its keys moves, after each, and when all is done. */
  async run(between: (step: number) => Promise<void>): Promise<void> {
    const source = this.#cluster.ownerOf(this.#slot);
    const target = this.#cluster.nodes.find((node) => node !== source)!;
    let step = 0;
    await this.#cluster.moveSlot(this.#slot, target, { between: () => between(step++) });
    await between(step);
  }
}

import type { RedisCluster } from '@rollgate/test-support';
import hashSlotOf from 'cluster-key-slot';

/** A slot that is about to move to another node, and keys in it. */
export class HashSlotMove {
  readonly keys: readonly string[];

  private constructor(
    private readonly cluster: RedisCluster,
    private readonly hashSlot: number,
    keys: readonly string[],
  ) {
    this.keys = keys;
  }

  /** Moves a hash slot with this many keys. */
  static create(cluster: RedisCluster, keyCount: number): HashSlotMove {
    const keys = foundKeys.get(keyCount) ?? findKeys(keyCount);
    foundKeys.set(keyCount, keys);
    return new HashSlotMove(cluster, hashSlotOf(keys[0]!), keys);
  }

  /** Moves the hash slot; `between` runs before the first of its keys moves, after each, and when all is done. */
  async run(onStep: (step: number) => Promise<void>): Promise<void> {
    const source = this.cluster.ownerOf(this.hashSlot);
    const target = this.cluster.nodes.find((node) => node !== source)!;
    let step = 0;
    await this.cluster.moveHashSlot(this.hashSlot, target, { onKeyMoved: () => onStep(step++) });
    await onStep(step);
  }
}

/** The keys of each count, because their search takes longer than a move. */
const foundKeys = new Map<number, readonly string[]>();

/** Finds this many keys that share a hash slot. */
function findKeys(keyCount: number): readonly string[] {
  const keysOf = new Map<number, string[]>();
  for (let index = 0; ; index++) {
    const key = `user ${index}`;
    const hashSlot = hashSlotOf(key);
    const keys = [...(keysOf.get(hashSlot) ?? []), key];
    if (keys.length === keyCount) return keys;
    keysOf.set(hashSlot, keys);
  }
}

import type { RedisCluster } from '@rollgate/test-support';

/** A slot that is about to move to another node, and keys in it. */
export class HashSlotMove {
  readonly keys: readonly string[];
  readonly #cluster: RedisCluster;
  readonly #hashSlot: number;

  private constructor(cluster: RedisCluster, hashSlot: number, keys: readonly string[]) {
    this.keys = keys;
    this.#cluster = cluster;
    this.#hashSlot = hashSlot;
  }

  /** Finds this many keys that share a hash slot. */
  static create(cluster: RedisCluster, keyCount: number): HashSlotMove {
    const keysOf = new Map<number, string[]>();
    for (let index = 0; ; index++) {
      const key = `user ${index}`;
      const hashSlot = hashSlotOf(key);
      const keys = [...(keysOf.get(hashSlot) ?? []), key];
      if (keys.length === keyCount) return new HashSlotMove(cluster, hashSlot, keys);
      keysOf.set(hashSlot, keys);
    }
  }

  /** Moves the hash slot; `between` runs before the first of its keys moves, after each, and when all is done. */
  async run(onStep: (step: number) => Promise<void>): Promise<void> {
    const source = this.#cluster.ownerOf(this.#hashSlot);
    const target = this.#cluster.nodes.find((node) => node !== source)!;
    let step = 0;
    await this.#cluster.moveHashSlot(this.#hashSlot, target, { onKeyMoved: () => onStep(step++) });
    await onStep(step);
  }
}

/** The hash slot of a key: CRC-16/XMODEM modulo 16,384, as the specification of Redis Cluster defines it. */
function hashSlotOf(key: string): number {
  let crc = 0;
  for (const byte of Buffer.from(key)) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit++) crc = crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1;
    crc &= 0xffff;
  }
  return crc % 16_384;
}

import type { RedisCluster } from '@rollgate/test-support';

/** A slot that is about to move to another node, and keys in it. */
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
  static make(cluster: RedisCluster, keyCount: number): SlotMove {
    const keysOf = new Map<number, string[]>();
    for (let index = 0; ; index++) {
      const key = `user ${index}`;
      const slot = slotOf(key);
      const keys = [...(keysOf.get(slot) ?? []), key];
      if (keys.length === keyCount) return new SlotMove(cluster, slot, keys);
      keysOf.set(slot, keys);
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

/** The slot of a key: CRC-16/XMODEM modulo 16,384, as the specification of Redis Cluster defines it. */
function slotOf(key: string): number {
  let crc = 0;
  for (const byte of Buffer.from(key)) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit++) crc = crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1;
    crc &= 0xffff;
  }
  return crc % 16_384;
}

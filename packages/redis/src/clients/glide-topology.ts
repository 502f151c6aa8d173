import { getOrInsert } from '@rollgate/core/store';
import { hashSlotOf } from '../util/hash-slot.js';
import { performance } from '../util/platform.js';
import type { GlideClient, GlideRoute } from './redis-clients.js';

/** How long the owners of the slots are used before they are requested again. */
const MAX_AGE_MS = 10_000;

/** `Decoder.String` of GLIDE. The app may have chosen buffers for the replies to its own commands. */
export const AS_TEXT = { decoder: 1 };

/** A range of slots, and the node that owns it, in the reply to `CLUSTER SLOTS`. Servers may hide the hosts of the nodes. */
type SlotRange = readonly [
  first: number,
  last: number,
  owner: readonly [host: string | null, port: number, id: string],
];

/** Returns the owner of each slot, which is the address of a node, or its id if the server hides the host. */
export async function requestOwners(client: GlideClient): Promise<string[]> {
  const owners: string[] = [];
  const ranges = await client.customCommand(['CLUSTER', 'SLOTS'], { ...AS_TEXT, route: 'randomNode' });
  for (const [first, last, [host, port, id]] of ranges as SlotRange[]) {
    for (let slot = first; slot <= last; slot++) owners[slot] = host === null ? id : `${host}:${port}`;
  }
  return owners;
}

/** A request to the owner of a slot for the moves that it knows. */
interface MovesRequest {
  readonly slot: number;
  readonly moves: Promise<string>;
}

/**
 * Knows which node of a Cluster owns a slot, which GLIDE does not publish. Slots that have moved are known late. That only
 * affects which node is taken to be down.
 */
export class GlideTopology {
  #owners: readonly string[] = [];
  #requestedMs = -Infinity;
  /** The requests on their way for the moves that a node knows, by its address, or by a slot without a known owner. */
  readonly #requests = new Map<string, MovesRequest>();

  constructor(private readonly client: GlideClient) {
    this.ownerOf(0); // Requests the owners before the first check.
  }

  /** Returns the node that owns the slot, as {@link requestOwners} names it; empty until it is known. */
  ownerOf(slot: number): string {
    if (performance.now() - this.#requestedMs > MAX_AGE_MS) {
      this.#requestedMs = performance.now();
      requestOwners(this.client).then(
        (owners) => {
          this.#owners = owners;
        },
        () => {}, // The client is closed, or the node is silent. The last owners remain.
      );
    }
    return this.#owners[slot] ?? '';
  }

  /** Whether the slot of the key is moving to another node. False if its owner does not reply, so that is not known. */
  async isMoving(key: string): Promise<boolean> {
    const slot = hashSlotOf(key);
    const shared = this.#share(this.ownerOf(slot) || `slot ${slot}`, key, slot);
    const moves = await shared.moves;
    if (moves.includes(`[${slot}-`)) return true;
    if (shared.slot === slot || moves === '' || isServedBy(moves, slot)) return false;
    // The known owner is out of date, so another node has replied.
    const own = this.#share(`slot ${slot}`, key, slot);
    return (await own.moves).includes(`[${slot}-`);
  }

  /** Many checks may time out at once, and the reply is long. So a node gets one request at a time. */
  #share(name: string, key: string, slot: number): MovesRequest {
    return getOrInsert(this.#requests, name, () => ({
      slot,
      moves: this.#requestMoves(key).finally(() => this.#requests.delete(name)),
    }));
  }

  /** The description of the Cluster by the owner of the key. It has `[slot->-target]` for each slot that moves from there. */
  async #requestMoves(key: string): Promise<string> {
    try {
      const route: GlideRoute = { type: 'primarySlotKey', key };
      return String(await this.client.customCommand(['CLUSTER', 'NODES'], { ...AS_TEXT, route }));
    } catch {
      return '';
    }
  }
}

/** Whether the node that described the Cluster serves the slot. Its own line ends with its ranges, such as `0-99 200`. */
function isServedBy(description: string, slot: number): boolean {
  const own = description.split('\n').find((line) => line.split(' ')[2]?.includes('myself'));
  return (own?.split(' ').slice(8) ?? []).some((range) => {
    const [first, last = first] = range.split('-').map(Number);
    return first! <= slot && slot <= last!;
  });
}

import slotOf from 'cluster-key-slot';
import { performance } from '../util/platform.js';
import type { GlideRoute } from './redis-clients.js';

/** How long the owners of the slots are used before they are requested again. */
const MAX_AGE_MS = 10_000;

/** A range of slots, and the nodes that serve it, in the reply to `CLUSTER SLOTS`. */
type SlotRange = readonly [first: number, last: number, owner: readonly [host: string | null, port: number]];

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
  readonly #request: (command: string[], route: GlideRoute) => Promise<unknown>;
  #owners: readonly string[] = [];
  #requestedMs = -Infinity;
  /** The requests on their way for the moves that a node knows, by its address, or by a slot without a known owner. */
  readonly #requests = new Map<string, MovesRequest>();

  /** @param request Returns a node's reply to a command. */
  constructor(request: (command: string[], route: GlideRoute) => Promise<unknown>) {
    this.#request = request;
    this.ownerOf(0); // Requests the owners before the first check.
  }

  /** Returns the address of the node that owns the slot; empty until it is known. */
  ownerOf(slot: number): string {
    if (performance.now() - this.#requestedMs > MAX_AGE_MS) {
      this.#requestedMs = performance.now();
      this.#load().catch(() => {}); // The client is closed, or the node is silent. The last owners remain.
    }
    return this.#owners[slot] ?? '';
  }

  /** Whether the slot of the key is moving to another node. False if its owner does not reply, so that is not known. */
  async isMoving(key: string): Promise<boolean> {
    const slot = slotOf(key);
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
    let request = this.#requests.get(name);
    if (request === undefined) {
      const moves = this.#requestMoves(key).finally(() => this.#requests.delete(name));
      request = { slot, moves };
      this.#requests.set(name, request);
    }
    return request;
  }

  /** The description of the Cluster by the owner of the key. It has `[slot->-target]` for each slot that moves from there. */
  async #requestMoves(key: string): Promise<string> {
    try {
      return String(await this.#request(['CLUSTER', 'NODES'], { type: 'primarySlotKey', key }));
    } catch {
      return '';
    }
  }

  async #load(): Promise<void> {
    const owners: string[] = [];
    for (const [first, last, [host, port]] of (await this.#request(
      ['CLUSTER', 'SLOTS'],
      'randomNode',
    )) as SlotRange[]) {
      for (let slot = first; slot <= last; slot++) owners[slot] = host === null ? '' : `${host}:${port}`;
    }
    this.#owners = owners;
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

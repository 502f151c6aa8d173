import { performance } from './platform.js';

/** How long the owners of the slots are used before they are requested again. */
const MAX_AGE_MS = 10_000;

/** A range of slots, and the nodes that serve it, in the reply to `CLUSTER SLOTS`. */
type SlotRange = readonly [first: number, last: number, owner: readonly [host: string | null, port: number]];

/**
 * Knows which node of a Cluster owns a slot, which GLIDE does not publish. Slots that have moved are known late. That only
 * affects which node is taken to be down.
 */
export class GlideTopology {
  readonly #request: () => Promise<unknown>;
  #owners: readonly string[] = [];
  #requestedMs = -Infinity;

  /** @param request Returns the reply to `CLUSTER SLOTS`. */
  constructor(request: () => Promise<unknown>) {
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

  async #load(): Promise<void> {
    const owners: string[] = [];
    for (const [first, last, [host, port]] of (await this.#request()) as SlotRange[]) {
      for (let slot = first; slot <= last; slot++) owners[slot] = host === null ? '' : `${host}:${port}`;
    }
    this.#owners = owners;
  }
}

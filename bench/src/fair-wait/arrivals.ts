import type { Redis } from 'ioredis';

/** The order in which the callers of `fairWaiting` arrive in Redis, which the server's monitor shows. */
export class Arrivals {
  /** The places of the callers by their indices. */
  readonly places = new Map<number, number>();
  readonly #processes = new Map<string, number>();
  readonly #seen = new Set<string>();
  /** How many callers of each process have arrived. */
  readonly #counts = new Map<number, number>();

  /** @param indexOf Returns the index of the caller that is the n-th one of a process, both from 0. */
  static async watch(client: Redis, indexOf: (process: number, place: number) => number): Promise<Arrivals> {
    const arrivals = new Arrivals();
    const monitor = await client.monitor();
    monitor.on('monitor', (_: string, args: string[]) => {
      for (const [position, arg] of args.entries()) {
        if (arg === 'enter') arrivals.#note(args, JSON.parse(args[position + 3]!), indexOf);
      }
    });
    client.once('end', () => monitor.disconnect());
    return arrivals;
  }

  /** The input of the operation contains the owner second, and the id and the number eighth and ninth. */
  #note(args: readonly string[], input: readonly unknown[], indexOf: (process: number, place: number) => number): void {
    const [owner, id] = [String(input[1]), String(input[7])];
    const ticket = `${owner}:${id}`;
    if (this.#seen.has(ticket)) return; // Sent with the script again, or back in its old place.
    this.#seen.add(ticket);
    const [, warmUp] = /warm-up-(\d+)/.exec(args.join(' ')) ?? [];
    if (warmUp !== undefined) {
      this.#processes.set(owner, Number(warmUp));
      return;
    }
    const process = this.#processes.get(owner)!;
    const count = this.#counts.get(process) ?? 0;
    this.#counts.set(process, count + 1);
    this.places.set(indexOf(process, count), this.places.size);
  }
}

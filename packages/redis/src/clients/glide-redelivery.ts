import { getOrInsert } from '@rollgate/core/store';
import { performance } from '../util/platform.js';

/** How often a command that GLIDE did not deliver to the owner of its slot is sent again. */
const MAX_REDELIVERIES = 3;

/** How long a command may wait until it is sent again. Its caller has given up long before. */
const MAX_WAIT_MS = 10_000;

/** GLIDE's text for an error that a node replied with. After its other errors, the node may be silent. */
const REPLIED = /^An error was signalled by the server: /;

/** GLIDE's text for a redirection that it received too often, with the slot. */
const REDIRECTION = /^An error was signalled by the server: - (?:Moved|Ask): (\d+) /;

type Send = (command: string[]) => Promise<unknown>;

/**
 * Returns a function that runs a command on a Cluster, even while its slot moves.
 *
 * To follow a redirection, GLIDE sends `ASKING`, then the command. Other commands on the same connection may come between
 * them, and the node then redirects the command back. It does not run it. So the commands of a slot that failed this way are
 * sent one after the other. Slots do not wait for each other, because one of their nodes may be silent.
 */
export function createClusterSender(send: Send): Send {
  const chains = new Map<string, Chain>();
  return async (command) => {
    try {
      return await send(command);
    } catch (error) {
      const slot = redirectedSlotOf(error);
      if (slot === undefined) throw error;
      if (chains.get(slot)?.broken) chains.delete(slot);
      const chain = getOrInsert(chains, slot, () => new Chain(send));
      chain.waitingCount += 1;
      try {
        return await chain.deliver(command, slot);
      } finally {
        chain.waitingCount -= 1;
        if (chain.waitingCount === 0 && chains.get(slot) === chain) chains.delete(slot);
      }
    }
  };
}

/** Sends the commands of a slot again, one after the other. */
class Chain {
  #last: Promise<unknown> = Promise.resolve();
  /** Why the rest of the commands is not sent: the first error without a reply. */
  broken: { readonly error: unknown } | undefined;
  waitingCount = 0;

  constructor(private readonly send: Send) {}

  deliver(command: string[], slot: string): Promise<unknown> {
    const sinceMs = performance.now();
    const delivered = this.#last.then(() => {
      // A node that is silent would charge the callers of these commands when it recovers, long after their decisions.
      if (this.broken !== undefined) throw this.broken.error;
      if (performance.now() - sinceMs > MAX_WAIT_MS) throw waitedTooLong(slot);
      return this.#redeliver(command);
    });
    this.#last = delivered.catch(() => {});
    return delivered;
  }

  async #redeliver(command: string[]): Promise<unknown> {
    for (let sent = 1; ; sent++) {
      try {
        return await this.send(command);
      } catch (error) {
        if (!(error instanceof Error && REPLIED.test(error.message))) this.broken = { error };
        if (sent === MAX_REDELIVERIES || redirectedSlotOf(error) === undefined) throw error;
      }
    }
  }
}

/** The slot of a redirection; `undefined` for any other error. */
function redirectedSlotOf(error: unknown): string | undefined {
  return error instanceof Error ? REDIRECTION.exec(error.message)?.[1] : undefined;
}

function waitedTooLong(slot: string): Error {
  return new Error(
    `Expected Valkey GLIDE to deliver the commands of slot ${slot} within ${MAX_WAIT_MS / 1000} s, got more redirected commands than its node runs in that time. Is the slot moving?`,
  );
}

/** How often a command that GLIDE did not deliver to the owner of its slot is sent again. */
const MAX_REDELIVERIES = 3;

/** How many commands of a slot may wait to be sent again. Further ones fail with the redirection. */
const MAX_WAITING = 1000;

/** GLIDE's text for a redirection that it received too often, with the slot. */
const REDIRECTION = /^An error was signalled by the server: - (?:Moved|Ask): (\d+) /;

type Send = (command: string[]) => Promise<unknown>;

/** The commands of a slot that are sent again. */
interface Chain {
  last: Promise<unknown>;
  waitingCount: number;
}

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
      const chain = chains.get(slot) ?? { last: Promise.resolve(), waitingCount: 0 };
      if (chain.waitingCount >= MAX_WAITING) throw error;
      chains.set(slot, chain);
      chain.waitingCount += 1;
      const delivered = chain.last.then(() => redeliver(send, command));
      chain.last = delivered
        .catch(() => {})
        .then(() => {
          chain.waitingCount -= 1;
          if (chain.waitingCount === 0) chains.delete(slot);
        });
      return delivered;
    }
  };
}

async function redeliver(send: Send, command: string[]): Promise<unknown> {
  for (let sent = 1; ; sent++) {
    try {
      return await send(command);
    } catch (error) {
      if (sent === MAX_REDELIVERIES || redirectedSlotOf(error) === undefined) throw error;
    }
  }
}

/** The slot of a redirection; `undefined` for any other error. */
function redirectedSlotOf(error: unknown): string | undefined {
  return error instanceof Error ? REDIRECTION.exec(error.message)?.[1] : undefined;
}

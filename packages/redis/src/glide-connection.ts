import { GlideTopology } from './glide-topology.js';
import type { GlideClient } from './redis-clients.js';
import type { RedisConnection } from './redis-connection.js';

/** How often a command that GLIDE did not deliver to the owner of its slot is sent again. */
const MAX_REDELIVERIES = 3;

/** GLIDE's text for a redirection that it received too often. */
const REDIRECTION = /^An error was signalled by the server: - (?:Moved|Ask): /;

/** The message of the error if GLIDE's own timeout passes. GLIDE's text is `timed out`. */
export const GLIDE_TIMEOUT_MESSAGE = 'Valkey GLIDE got no reply within its `requestTimeout`';

/** `Decoder.String` of GLIDE. The app may have chosen buffers for the replies to its own commands. */
const AS_TEXT = { decoder: 1 };

/**
 * The connection of a client of Valkey GLIDE. Its state is not visible, so errors of a call are all that is known.
 *
 * GLIDE rejects the commands of a broken connection, and sends none of them again.
 */
export function fromGlide(client: GlideClient): RedisConnection {
  const isCluster = client.invokeScriptWithRoute !== undefined;
  const sendOnce = (command: string[]) => client.customCommand(command, AS_TEXT);
  const send = isCluster ? createClusterSender(sendOnce) : sendOnce;
  const topology = isCluster
    ? new GlideTopology(() => client.customCommand(['CLUSTER', 'SLOTS'], { ...AS_TEXT, route: 'randomNode' }))
    : undefined;
  const run = (name: string, script: string, keys: string[], values: string[]) =>
    send([name, script, String(keys.length), ...keys, ...values]).catch(explain);
  return {
    healthOf: () => ({ state: 'open' }),
    isCluster,
    keyPrefix: '',
    mayResend: false,
    nodeOf: (slot) => topology?.ownerOf(slot) ?? '',
    evalSha: (sha, keys, values) => run('EVALSHA', sha, keys, values),
    eval: (script, keys, values) => run('EVAL', script, keys, values),
  };
}

type Send = (command: string[]) => Promise<unknown>;

/**
 * Returns a function that runs a command on a Cluster, even while its slot moves.
 *
 * To follow a redirection, GLIDE sends `ASKING`, then the command. Other commands on the same connection may come between
 * them, and the node then redirects the command back. It does not run it. So commands that failed this way are sent one
 * after the other.
 */
function createClusterSender(send: Send): Send {
  let last: Promise<unknown> = Promise.resolve();
  const redeliver = async (command: string[]): Promise<unknown> => {
    for (let sent = 1; ; sent++) {
      try {
        return await send(command);
      } catch (error) {
        if (sent === MAX_REDELIVERIES || !isRedirection(error)) throw error;
      }
    }
  };
  return async (command) => {
    try {
      return await send(command);
    } catch (error) {
      if (!isRedirection(error)) throw error;
      const delivered = last.then(() => redeliver(command));
      last = delivered.catch(() => {});
      return delivered;
    }
  };
}

function isRedirection(error: unknown): boolean {
  return error instanceof Error && REDIRECTION.test(error.message);
}

/** Names the option that determines how long GLIDE waited. */
function explain(error: unknown): never {
  if (error instanceof Error && error.message === 'timed out') error.message = GLIDE_TIMEOUT_MESSAGE;
  throw error;
}

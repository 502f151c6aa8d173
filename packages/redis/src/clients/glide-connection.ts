import { createClusterSender } from './glide-redelivery.js';
import { AS_TEXT, GlideTopology } from './glide-topology.js';
import type { GlideClient } from './redis-clients.js';
import type { RedisConnection } from './redis-connection.js';

/** The message of the error if GLIDE's own timeout passes. GLIDE's text is `timed out`. */
const TIMEOUT_MESSAGE = 'Valkey GLIDE got no reply within its `requestTimeout`';

/**
 * The connection of a client of Valkey GLIDE. Its state is not visible, so errors of a call are all that is known.
 *
 * GLIDE rejects the commands of a broken connection, and sends none of them again.
 */
export function fromGlide(client: GlideClient): RedisConnection {
  const isCluster = client.invokeScriptWithRoute !== undefined;
  const sendOnce = (command: string[]) => client.customCommand(command, AS_TEXT);
  const send = isCluster ? createClusterSender(sendOnce) : sendOnce;
  const topology = isCluster ? new GlideTopology(client) : undefined;
  const run = (name: string, script: string, keys: string[], values: string[]) =>
    send([name, script, String(keys.length), ...keys, ...values]).catch(explain);
  return {
    healthOf: () => ({ state: 'open' }),
    isCluster,
    keyPrefix: '',
    mayResend: false,
    nodeOf: (slot) => topology?.ownerOf(slot) ?? '',
    // GLIDE repeats a script with keys of which only some have moved, until its timeout passes.
    hidesMove: async (error, key) => isTimeout(error) && topology !== undefined && (await topology.isMoving(key)),
    evalSha: (sha, keys, values) => run('EVALSHA', sha, keys, values),
    eval: (script, keys, values) => run('EVAL', script, keys, values),
  };
}

function isTimeout(error: unknown): boolean {
  return error instanceof Error && error.message === TIMEOUT_MESSAGE;
}

/** Names the option that determines how long GLIDE waited. */
function explain(error: unknown): never {
  if (error instanceof Error && error.message === 'timed out') error.message = TIMEOUT_MESSAGE;
  throw error;
}

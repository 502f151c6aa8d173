import { findEvalShaClass } from './ioredis-command-class.js';
import type { IoredisClient } from './redis-clients.js';

type EvalSha = (sha: string, keys: readonly string[], values: readonly string[]) => Promise<unknown>;

/** How ioredis and iovalkey send commands. */
interface CommandSender extends IoredisClient {
  sendCommand(command: object): Promise<unknown>;
}

/**
 * Creates a function that sends the command of `client.evalsha`, without copying its arguments if that is possible. It calls
 * the method while the app has replaced it, for automatic pipelines, and for errors with the caller's stack.
 */
export function createEvalSha(client: IoredisClient): EvalSha {
  const { evalsha } = client;
  const Command = findEvalShaClass(client);
  return (sha, keys, values) => {
    const { keyPrefix, showFriendlyErrorStack, enableAutoPipelining } = client.options;
    if (Command === undefined || client.evalsha !== evalsha || enableAutoPipelining || showFriendlyErrorStack) {
      return client.evalsha(sha, keys.length, ...keys, ...values);
    }
    // `concat`, because V8 would allocate a literal with all of them in the old generation once many have survived. There it
    // would keep the keys until a full collection.
    const args = [sha, String(keys.length)].concat(keys, values);
    const command = new Command('evalsha', { flat: () => args }, { keyPrefix, replyEncoding: 'utf8' });
    return (client as CommandSender).sendCommand(command);
  };
}

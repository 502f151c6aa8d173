import { findEvalShaClass } from './ioredis-command-class.js';
import type { IoredisClient } from './redis-clients.js';

type EvalSha = (sha: string, keys: readonly string[], values: readonly string[]) => Promise<unknown>;

/** How ioredis and iovalkey send commands. */
interface CommandSender extends IoredisClient {
  sendCommand(command: object): Promise<unknown>;
}

/**
 * Creates a function that sends the command of `client.evalsha` without copying its arguments. The function calls
 * `client.evalsha` itself if the app has replaced that method, uses automatic pipelines, or wants the caller's stack in errors.
 */
export function createEvalSha(client: IoredisClient): EvalSha {
  const { evalsha } = client;
  const Command = findEvalShaClass(client);
  return (sha, keys, values) => {
    const { keyPrefix, showFriendlyErrorStack, enableAutoPipelining } = client.options;
    if (Command === undefined || client.evalsha !== evalsha || enableAutoPipelining || showFriendlyErrorStack) {
      return client.evalsha(sha, keys.length, ...keys, ...values);
    }
    // An array literal with all of them would soon be allocated in V8's old generation, because many of them survive. V8 would
    // then keep the keys until a full collection.
    const args = [sha, String(keys.length)].concat(keys, values);
    const command = new Command('evalsha', { flat: () => args }, { keyPrefix, replyEncoding: 'utf8' });
    return (client as CommandSender).sendCommand(command);
  };
}

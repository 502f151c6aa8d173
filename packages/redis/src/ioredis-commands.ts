import { hasMethods } from '@rollgate/core/store';
import type { IoredisClient } from './redis-clients.js';

type EvalSha = (sha: string, keys: readonly string[], values: readonly string[]) => Promise<unknown>;

type CommandClass = new (name: string, args: readonly string[], options: object) => object;

interface CommandSender {
  sendCommand(command: object): Promise<unknown>;
}

/**
 * The arguments of a command, with no arrays inside. ioredis calls `flat()` for each command, because an app may pass arrays
 * of keys. V8 copies the arguments one by one there, which takes a sixth of the instructions of a check.
 */
class FlatArguments extends Array<string> {
  override flat(): never {
    return this as never;
  }
}

/** Creates a function that sends the command of `client.evalsha`, without copying its arguments if that is possible. */
export function createEvalSha(client: IoredisClient): EvalSha {
  const Command = findCommandClass(client);
  if (Command === undefined) return (sha, keys, values) => client.evalsha(sha, keys.length, ...keys, ...values);
  const sender = client as unknown as CommandSender;
  const { keyPrefix, showFriendlyErrorStack } = client.options;
  return (sha, keys, values) => {
    const args = new FlatArguments();
    args.push(sha, String(keys.length), ...keys, ...values);
    const errorStack = showFriendlyErrorStack ? new Error() : undefined;
    return sender.sendCommand(new Command('evalsha', args, { errorStack, keyPrefix, replyEncoding: 'utf8' }));
  };
}

/**
 * Returns the class of the client's commands. The store has the client only, not the package that it comes from. So this
 * calls the client's method on an object that inherits from the client, and returns commands instead of sending them.
 */
function findCommandClass(client: IoredisClient): CommandClass | undefined {
  if (!hasMethods(client, ['sendCommand']) || isReplaced(client)) return undefined;
  const recorder: IoredisClient = Object.create(client, {
    isPipeline: { value: true }, // Keeps the command out of an automatic pipeline.
    sendCommand: { value: (command: unknown) => command },
  });
  const command: unknown = recorder.evalsha('', 0);
  return hasMethods(command, ['toWritable']) ? ((command as object).constructor as CommandClass) : undefined;
}

/** Whether the app has replaced the client's `evalsha` by its own, which expects to see each call. */
function isReplaced(client: IoredisClient): boolean {
  let owner: object | null = client;
  while (owner !== null && !Object.hasOwn(owner, 'evalsha')) owner = Object.getPrototypeOf(owner);
  // The client's own methods are on one prototype, where each has a variant for buffers.
  return (
    owner === null || !Object.hasOwn(owner, 'evalshaBuffer') || (owner as IoredisClient).evalsha !== client.evalsha
  );
}

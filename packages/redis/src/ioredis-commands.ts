import { hasMethods } from '@rollgate/core/store';
import type { IoredisClient } from './redis-clients.js';

type EvalSha = (sha: string, keys: readonly string[], values: readonly string[]) => Promise<unknown>;

/** How ioredis and iovalkey create commands and send them. */
interface CommandSender extends IoredisClient {
  sendCommand(command: object): Promise<unknown>;
  /** Creates a method for a command. */
  createBuiltinCommand(name: string): { readonly string: Method };
}

type Method = (this: object, ...args: string[]) => unknown;

interface CommandClass {
  new (name: string, args: FlatArguments, options: object): { readonly args: unknown };
}

/**
 * The arguments of a new command. ioredis calls `flat()` for a copy of them, because an app may pass arrays of keys. V8 copies
 * the arguments one by one there, which takes a sixth of the instructions of a check. These have no arrays inside.
 */
class FlatArguments {
  readonly #values: readonly string[];

  constructor(values: readonly string[]) {
    this.#values = values;
  }

  flat(): readonly string[] {
    return this.#values;
  }
}

/**
 * Creates a function that sends the command of `client.evalsha`, without copying its arguments if that is possible. It calls
 * the method while the app has replaced it, for automatic pipelines, and for errors with the caller's stack.
 */
export function createEvalSha(client: IoredisClient): EvalSha {
  const { evalsha } = client;
  const Command = findCommandClass(client);
  return (sha, keys, values) => {
    const { keyPrefix, showFriendlyErrorStack, enableAutoPipelining } = client.options;
    if (Command === undefined || client.evalsha !== evalsha || enableAutoPipelining || showFriendlyErrorStack) {
      return client.evalsha(sha, keys.length, ...keys, ...values);
    }
    const args = new FlatArguments([sha, String(keys.length), ...keys, ...values]);
    const command = new Command('evalsha', args, { keyPrefix, replyEncoding: 'utf8' });
    return (client as CommandSender).sendCommand(command);
  };
}

/** Returns the class of the client's commands, if they take their arguments as known. The store has the client only. */
function findCommandClass(client: IoredisClient): CommandClass | undefined {
  if (!hasMethods(client, ['sendCommand', 'createBuiltinCommand'])) return undefined;
  const sender = client as CommandSender;
  const [evalsha, ping] = ['evalsha', 'ping'].map((name) => sender.createBuiltinCommand(name)?.string);
  if (typeof evalsha !== 'function' || typeof ping !== 'function') return undefined;
  // The client's methods have one source. An app that has replaced this one expects to see each call.
  if (String(evalsha) !== String(client.evalsha)) return undefined;
  // Calling `evalsha` itself would call functions that an app may have set for its arguments.
  const command = ping.call({ options: {}, sendCommand: (created: object) => created }) as object;
  const Command = command.constructor as CommandClass;
  const values: string[] = [];
  return new Command('ping', new FlatArguments(values), {}).args === values ? Command : undefined;
}

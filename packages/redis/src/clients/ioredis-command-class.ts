import { hasMethods } from '@rollgate/core/store';
import type { IoredisClient } from './redis-clients.js';

/** The class of ioredis' and iovalkey's commands. */
export interface CommandClass {
  new (name: string, args: FlatArguments, options: object): Command;
}

interface Command {
  readonly name: string;
  /** Texts. A `keyPrefix` that is a `Buffer` makes some of them buffers, which join as texts. */
  readonly args: readonly (string | Uint8Array)[];
  /** Returns what is sent to Redis. ioredis' own class for scripts overrides it, too. */
  toWritable(socket: object): unknown;
}

interface CommandCreator {
  /** Creates a method for a command. */
  createBuiltinCommand(name: string): { readonly string: (this: object, ...args: string[]) => unknown };
}

/**
 * The arguments of a new command. ioredis calls `flat()` for a copy of them, because an app may pass arrays of keys. V8 copies
 * the arguments one by one there, which takes a sixth of the instructions of a check. These have no arrays inside, so their
 * `flat` returns them without a copy.
 */
export interface FlatArguments {
  flat(): readonly string[];
}

/** Returns a class of `evalsha` commands for this client, if its own class is as known. The store has the client only. */
export function findEvalShaClass(client: IoredisClient): CommandClass | undefined {
  const Known = findCommandClass(client);
  return Known === undefined ? undefined : createEvalShaClass(Known);
}

function findCommandClass(client: IoredisClient): CommandClass | undefined {
  if (!hasMethods(client, ['sendCommand', 'createBuiltinCommand'])) return undefined;
  const creator = client as IoredisClient & CommandCreator;
  const [evalsha, ping] = ['evalsha', 'ping'].map((name) => creator.createBuiltinCommand(name)?.string);
  if (typeof evalsha !== 'function' || typeof ping !== 'function') return undefined;
  // The client's methods have one source. An app that has replaced this one expects to see each call.
  if (String(evalsha) !== String(client.evalsha)) return undefined;
  // Calling `evalsha` itself would call functions that an app may have set for its arguments.
  const command = ping.call({ options: {}, sendCommand: (created: object) => created }) as Command;
  const Known = command.constructor as CommandClass;
  const values: string[] = [];
  const isKnown = new Known('ping', { flat: () => values }, {}).args === values;
  const isText = hasMethods(command, ['toWritable']) && command.toWritable({}) === encodeAscii('ping', []);
  return isKnown && isText ? Known : undefined;
}

/**
 * ioredis measures each argument as UTF-8 and joins all of them one by one, which takes a fifth of the instructions of a check.
 * If the whole command is ASCII, as it usually is, the length of an argument is the number of its characters. ioredis encodes
 * any other command.
 */
function createEvalShaClass(Known: CommandClass): CommandClass {
  return class EvalSha extends Known {
    override toWritable(socket: object): unknown {
      const text = encodeAscii(this.name, this.args);
      return Buffer.byteLength(text) === text.length ? text : super.toWritable(socket);
    }
  };
}

/** The lines before arguments of most lengths, in Redis' protocol. */
const LENGTHS = Array.from({ length: 256 }, (_, length) => `$${length}`);

/** Encodes a command in Redis' protocol. Its lengths are wrong if a character is not ASCII. */
function encodeAscii(name: string, args: readonly (string | Uint8Array)[]): string {
  const lines = [`*${args.length + 1}`, `$${name.length}`, name];
  for (const arg of args) lines.push(LENGTHS[arg.length] ?? `$${arg.length}`, arg as string);
  lines.push('');
  return lines.join('\r\n');
}

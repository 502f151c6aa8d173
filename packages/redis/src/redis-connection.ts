import { type StoreConnection, validate } from '@rollgate/core/store';
import { ConnectionErrors } from './connection-errors.js';
import type { Script } from './script-builder.js';

/** What the store uses of an ioredis `Redis` or `Cluster`, version 5 or 6. */
export interface IoredisClient {
  /** The state of the connection, such as `ready`. */
  readonly status: string;
  /** Whether this is a `Cluster`. */
  readonly isCluster?: boolean;
  /** The nodes of each slot of a Cluster. The first one accepts writes. */
  readonly slots?: readonly (readonly string[])[];
  /** The options that change how the client sends commands. */
  readonly options: {
    /** The prefix that the client adds to every key. */
    readonly keyPrefix?: string | undefined;
    /** Whether the client sends commands without a reply again after it has reconnected. */
    readonly autoResendUnfulfilledCommands?: boolean | undefined;
  };
  /** Runs a script that the server knows by its SHA-1 hash. */
  evalsha(sha: string, keyCount: number, ...keysAndArguments: string[]): Promise<unknown>;
  /** Runs a script, and lets the server remember it. */
  eval(script: string, keyCount: number, ...keysAndArguments: string[]): Promise<unknown>;
}

/** What the store uses of a node-redis client, cluster, pool or sentinel, version 5 or 6. */
export interface NodeRedisClient {
  /** Whether the app has connected the client. */
  readonly isOpen: boolean;
  /** Whether the connection can send commands now. */
  readonly isReady?: boolean;
  /** Only a cluster has slots. */
  readonly slots?: readonly {
    /** The node that accepts writes. */
    readonly master?: {
      /** The host and port of the node. */
      readonly address?: string;
    };
  }[];
  /** Runs a script that the server knows by its SHA-1 hash. */
  evalSha(sha: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>;
  /** Runs a script, and lets the server remember it. */
  eval(script: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>;
}

/** A client that {@link RedisStore} accepts. */
export type RedisClient = IoredisClient | NodeRedisClient;

/** The same interface for every client. */
export interface RedisConnection {
  readonly isCluster: boolean;
  /** The prefix that the client adds to every key. */
  readonly keyPrefix: string;
  /** Whether the client may send a command again that Redis has executed, because the connection broke before the reply. */
  readonly mayResend: boolean;
  /** The address of the node that owns a slot of a Cluster; empty if the client does not know it. */
  nodeOf(slot: number): string;
  /** The state of the client's connection. For a Cluster, `node` is the address of a node. */
  healthOf(node: string): StoreConnection;
  evalSha(sha: string, keys: string[], values: string[]): Promise<unknown>;
  eval(script: string, keys: string[], values: string[]): Promise<unknown>;
}

/** @throws TypeError if the client is neither an ioredis nor a node-redis client. */
export function createConnection(client: unknown): RedisConnection {
  if (validate.hasMethods(client, ['evalsha', 'eval']) && typeof (client as IoredisClient).status === 'string') {
    return fromIoredis(client as IoredisClient);
  }
  if (validate.hasMethods(client, ['evalSha', 'eval']) && typeof (client as NodeRedisClient).isOpen === 'boolean') {
    return fromNodeRedis(client as NodeRedisClient);
  }
  throw validate.invalidOption('client', 'an ioredis `Redis` or `Cluster`, or a node-redis client', client);
}

function fromIoredis(client: IoredisClient): RedisConnection {
  const errors = ConnectionErrors.ofIoredis(client);
  return {
    healthOf: (node) => ({ state: client.status, lastError: errors.last(node) }),
    isCluster: client.isCluster === true,
    keyPrefix: client.options.keyPrefix ?? '',
    mayResend: client.isCluster === true || client.options.autoResendUnfulfilledCommands !== false,
    nodeOf: (slot) => client.slots?.[slot]?.[0] ?? '',
    evalSha: (sha, keys, values) => client.evalsha(sha, keys.length, ...keys, ...values),
    eval: (script, keys, values) => client.eval(script, keys.length, ...keys, ...values),
  };
}

function fromNodeRedis(appClient: NodeRedisClient): RedisConnection {
  // The app may map the types of its replies, but the store needs plain numbers and text.
  const client = validate.hasMethods(appClient, ['withTypeMapping'])
    ? (appClient as NodeRedisClient & { withTypeMapping(mapping: object): NodeRedisClient }).withTypeMapping({})
    : appClient;
  const errors = ConnectionErrors.ofNodeRedis(appClient);
  return {
    healthOf: (node) => ({ state: stateOf(appClient), lastError: errors.last(node) }),
    isCluster: 'slots' in appClient && 'masters' in appClient,
    keyPrefix: '',
    mayResend: false,
    nodeOf: (slot) => appClient.slots?.[slot]?.master?.address ?? '',
    evalSha: (sha, keys, values) => client.evalSha(sha, { keys, arguments: values }),
    eval: (script, keys, values) => client.eval(script, { keys, arguments: values }),
  };
}

function stateOf({ isReady, isOpen }: NodeRedisClient): string {
  if (isReady ?? isOpen) return isReady ? 'ready' : 'open';
  return isOpen ? 'connecting' : 'closed';
}

/** Runs the script. Sends its text only to a server that does not know it. */
export async function runScript(
  connection: RedisConnection,
  { sha, text }: Script,
  keys: string[],
  values: string[],
): Promise<unknown> {
  try {
    return await connection.evalSha(sha, keys, values);
  } catch (error) {
    if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error;
    return await connection.eval(text, keys, values);
  }
}

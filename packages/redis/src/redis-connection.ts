import { type StoreConnection, validate } from '@rollgate/core/store';
import { ConnectionErrors } from './connection-errors.js';
import type { Script } from './script-builder.js';

/** What the store needs of an ioredis `Redis` or `Cluster`, version 5 or 6. */
export interface IoredisClient {
  readonly status: string;
  readonly isCluster?: boolean;
  /** Of a Cluster: the nodes of each slot, the one that is written to first. */
  readonly slots?: readonly (readonly string[])[];
  readonly options: { readonly keyPrefix?: string | undefined };
  evalsha(sha: string, keyCount: number, ...keysAndArguments: string[]): Promise<unknown>;
  eval(script: string, keyCount: number, ...keysAndArguments: string[]): Promise<unknown>;
}

/** What the store needs of a node-redis client, cluster, pool or sentinel, version 5 or 6. */
export interface NodeRedisClient {
  readonly isOpen: boolean;
  readonly isReady?: boolean;
  /** Of a cluster. */
  readonly slots?: readonly { readonly master?: { readonly address?: string } }[];
  evalSha(sha: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>;
  eval(script: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>;
}

export type RedisClient = IoredisClient | NodeRedisClient;

/** A client of any kind, as the store speaks to it. */
export interface RedisConnection {
  readonly isCluster: boolean;
  /** What the client puts in front of every key by itself. */
  readonly keyPrefix: string;
  /** The address of the node that a slot of a Cluster belongs to, as the client knows it; empty when it does not. */
  nodeOf(slot: number): string;
  /** What the client knows of its connection, or of that to a node of a Cluster. */
  healthOf(node: string): StoreConnection;
  evalSha(sha: string, keys: string[], argument: string): Promise<unknown>;
  eval(script: string, keys: string[], argument: string): Promise<unknown>;
}

/** @throws TypeError when the client is of no kind that is known. */
export function createConnection(client: unknown): RedisConnection {
  if (validate.hasMethods(client, ['evalsha', 'eval']) && typeof (client as IoredisClient).status === 'string') {
    return ofIoredis(client as IoredisClient);
  }
  if (validate.hasMethods(client, ['evalSha', 'eval']) && typeof (client as NodeRedisClient).isOpen === 'boolean') {
    return ofNodeRedis(client as NodeRedisClient);
  }
  throw validate.invalidOption('client', 'an ioredis `Redis` or `Cluster`, or a node-redis client', client);
}

function ofIoredis(client: IoredisClient): RedisConnection {
  const errors = ConnectionErrors.ofIoredis(client);
  return {
    healthOf: (node) => ({ state: client.status, lastError: errors.last(node) }),
    isCluster: client.isCluster === true,
    keyPrefix: client.options.keyPrefix ?? '',
    nodeOf: (slot) => client.slots?.[slot]?.[0] ?? '',
    evalSha: (sha, keys, argument) => client.evalsha(sha, keys.length, ...keys, argument),
    eval: (script, keys, argument) => client.eval(script, keys.length, ...keys, argument),
  };
}

function ofNodeRedis(given: NodeRedisClient): RedisConnection {
  // Whatever the app has its replies turned into, the store reads plain numbers and text.
  const client = validate.hasMethods(given, ['withTypeMapping'])
    ? (given as NodeRedisClient & { withTypeMapping(mapping: object): NodeRedisClient }).withTypeMapping({})
    : given;
  const errors = ConnectionErrors.ofNodeRedis(given);
  return {
    healthOf: (node) => ({ state: stateOf(given), lastError: errors.last(node) }),
    isCluster: 'slots' in given && 'masters' in given,
    keyPrefix: '',
    nodeOf: (slot) => given.slots?.[slot]?.master?.address ?? '',
    evalSha: (sha, keys, argument) => client.evalSha(sha, { keys, arguments: [argument] }),
    eval: (script, keys, argument) => client.eval(script, { keys, arguments: [argument] }),
  };
}

function stateOf({ isReady, isOpen }: NodeRedisClient): string {
  if (isReady ?? isOpen) return isReady ? 'ready' : 'open';
  return isOpen ? 'connecting' : 'closed';
}

/** Runs the script, sending its text only to a server that has not seen it, or has forgotten it. */
export async function runScript(
  connection: RedisConnection,
  { sha, text }: Script,
  keys: string[],
  argument: string,
): Promise<unknown> {
  try {
    return await connection.evalSha(sha, keys, argument);
  } catch (error) {
    if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error;
    return await connection.eval(text, keys, argument);
  }
}

import { hasMethods, invalidOption } from '@rollgate/core/store';
import { ConnectionErrors } from './connection-errors.js';
import { fromGlide } from './glide-connection.js';
import type { GlideClient, IoredisClient, NodeRedisClient, UpstashClient } from './redis-clients.js';
import type { RedisConnection } from './redis-connection.js';

/** @throws TypeError if the store does not know this kind of client. */
export function createConnection(client: unknown): RedisConnection {
  if (hasMethods(client, ['evalsha', 'eval']) && typeof (client as IoredisClient).status === 'string') {
    return fromIoredis(client as IoredisClient);
  }
  if (hasMethods(client, ['evalSha', 'eval']) && typeof (client as NodeRedisClient).isOpen === 'boolean') {
    return fromNodeRedis(client as NodeRedisClient);
  }
  if (hasMethods(client, ['customCommand', 'invokeScript'])) return fromGlide(client as GlideClient);
  if (hasMethods(client, ['evalsha', 'eval', 'pipeline'])) return fromUpstash(client as UpstashClient);
  throw invalidOption('client', 'a client of ioredis, iovalkey, node-redis, Valkey GLIDE or @upstash/redis', client);
}

function fromIoredis(client: IoredisClient): RedisConnection {
  const errors = ConnectionErrors.of(client, true);
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
  const client = hasMethods(appClient, ['withTypeMapping'])
    ? (appClient as NodeRedisClient & { withTypeMapping(mapping: object): NodeRedisClient }).withTypeMapping({})
    : appClient;
  const errors = ConnectionErrors.of(appClient, false);
  return {
    healthOf: (node) => ({ state: stateOf(appClient), lastError: errors.last(node) }),
    isCluster: 'slots' in appClient && 'masters' in appClient,
    keyPrefix: '',
    mayResend: isSentinel(appClient),
    nodeOf: (slot) => appClient.slots?.[slot]?.master?.address ?? '',
    evalSha: (sha, keys, values) => client.evalSha(sha, { keys, arguments: values }),
    eval: (script, keys, values) => client.eval(script, { keys, arguments: values }),
  };
}

/** Whether this is a client of a Sentinel, or what its method `acquire` returns. Both send a command to the new master again. */
function isSentinel(client: NodeRedisClient): boolean {
  return hasMethods(client, ['getSentinelNode']) || hasMethods(client, ['release', 'WATCH']);
}

function stateOf({ isReady, isOpen }: NodeRedisClient): string {
  if (isReady ?? isOpen) return isReady ? 'ready' : 'open';
  return isOpen ? 'connecting' : 'closed';
}

/** Each call is an HTTP request, which the client sends again if it fails on the way. */
function fromUpstash(client: UpstashClient): RedisConnection {
  return {
    healthOf: () => ({ state: 'open' }),
    isCluster: false,
    keyPrefix: '',
    mayResend: true,
    nodeOf: () => '',
    evalSha: (sha, keys, values) => client.evalsha(sha, keys, values).catch(rethrowWithoutCommand),
    eval: (script, keys, values) => client.eval(script, keys, values).catch(rethrowWithoutCommand),
  };
}

/** The client's errors contain the whole command, which is a long script. */
function rethrowWithoutCommand(error: unknown): never {
  if (error instanceof Error) {
    const message = error.message.replace(/^Command failed: /, '').replace(/, command was: .*/s, '');
    error.message = message === 'undefined' ? 'The HTTP response is an error without a message' : message;
  }
  throw error;
}

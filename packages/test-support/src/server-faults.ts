import type { FaultyProxy } from './faulty-proxy.js';
import type { RedisServer } from './redis-server.js';

/** A fault for `verifyFault` of `@rollgate/store-conformance`. `start` returns what ends it. */
interface ServerFault {
  readonly name: string;
  readonly start: () => Promise<() => unknown>;
}

/** What goes wrong with connections through this proxy. */
export function networkFaults(proxy: () => FaultyProxy): ServerFault[] {
  const failing = (how: Parameters<FaultyProxy['fail']>[0]) => async () => {
    await proxy().fail(how);
    return () => proxy().heal();
  };
  const freeze = async () => {
    proxy().freeze();
    return () => proxy().thaw();
  };
  return [
    { name: 'a refused connection', start: failing('refuses') },
    { name: 'a connection that ends at once', start: failing('ends') },
    { name: 'a connection that ends in the middle of a reply', start: failing('endsInReply') },
    { name: 'a new connection that is silent', start: failing('isSilent') },
    { name: 'a connection that falls silent', start: freeze },
  ];
}

/** What a Redis server refuses. */
export function redisFaults(server: () => RedisServer): ServerFault[] {
  const isReadOnly = async () => {
    await server().run('REPLICAOF', server().host, 1);
    return () => server().run('REPLICAOF', 'NO', 'ONE');
  };
  const isFull = async () => {
    await server().run('CONFIG', 'SET', 'maxmemory', 1);
    return () => server().run('CONFIG', 'SET', 'maxmemory', 0);
  };
  return [
    { name: 'a read-only server', start: isReadOnly },
    { name: 'a full server', start: isFull },
  ];
}

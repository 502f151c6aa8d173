import { executionAsyncResource } from 'node:async_hooks';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { handleTasks } from '../worker.js';
import { LocalConnection } from './local-connection.js';
import type { AnyLimiterName, FrameworkName } from './subjects.js';

export interface ServerTask {
  /** How many requests the server first answers to a connection in its own process. */
  readonly local: number;
}

export interface ServerResult {
  readonly port: number;
  /** The processor time of this process so far. */
  readonly cpuMicros: number;
  /** The status of the last request of that connection. */
  readonly status: number | undefined;
}

type Args = [framework: FrameworkName, limiter: AnyLimiterName, limit: string, tick: string, redisUrl: string];
const [framework, limiter, limitText, tick, redisUrl] = process.argv.slice(2) as Args;
/** A tick object that stays alive, see `docs/internals/node-nexttick.md`. */
export let keptTick: object | undefined;
if (tick === 'keep') {
  process.nextTick(() => {
    keptTick = executionAsyncResource();
  });
}

/** Imported on demand, so that no server's process contains another framework. */
const STARTS: Record<
  FrameworkName,
  () => Promise<(limiter: never, limit: number, redisUrl: string) => Promise<Server>>
> = {
  express: async () => (await import('./express-server.js')).startExpress,
  fastify: async () => (await import('./fastify-server.js')).startFastify,
  hono: async () => (await import('./hono-server.js')).startHono,
  koa: async () => (await import('./koa-server.js')).startKoa,
  nest: async () => (await import('./nest-server.js')).startNest,
};
const start = await STARTS[framework]();
const server = await start(limiter as never, Number(limitText), redisUrl);
server.keepAliveTimeout = 0; // The connections stay open while the other servers have their turns.
const { port } = server.address() as AddressInfo;

let connection: LocalConnection | undefined;

handleTasks(async ({ local }: ServerTask): Promise<ServerResult> => {
  if (local > 0) connection ??= new LocalConnection(server);
  const status = await connection?.send(local);
  const { user, system } = process.cpuUsage();
  return { port, cpuMicros: user + system, status };
});

import type { AddressInfo } from 'node:net';
import { handleTasks } from '../worker.js';
import { startExpress } from './express-server.js';
import { startFastify } from './fastify-server.js';
import type { FrameworkName, LimiterName } from './subjects.js';

export interface ServerResult {
  readonly port: number;
  /** The processor time of this process so far. */
  readonly cpuMicros: number;
}

const [framework, limiter, limitText] = process.argv.slice(2) as [FrameworkName, LimiterName, string];
const start = framework === 'express' ? startExpress : startFastify;
const { port } = (await start(limiter, Number(limitText))).address() as AddressInfo;

handleTasks((): ServerResult => {
  const { user, system } = process.cpuUsage();
  return { port, cpuMicros: user + system };
});

import { Server } from './server.js';

let shared: Promise<Server> | undefined;
afterAll(async () => (await shared)?.end());

/** A server with a clock that the test moves, started once for all tests of a file. Its clock runs from here on. */
export async function sharedServer(): Promise<Server> {
  shared ??= Server.startWithClock();
  const server = await shared;
  await server.now();
  return server;
}

import { RedisServer } from '@rollgate/test-support';
import { type RestFront, startRestFront } from '@rollgate/test-support/rest-front';
import { Redis } from 'ioredis';

/** A Redis server of one probe, with an HTTP front for the client of Upstash. It ends with this process. */
export class PrivateRedis {
  readonly #server: RedisServer;
  readonly rest: RestFront;

  private constructor(server: RedisServer, rest: RestFront) {
    this.#server = server;
    this.rest = rest;
  }

  static async start(): Promise<PrivateRedis> {
    const server = await RedisServer.start();
    return new PrivateRedis(server, await startRestFront(server.url));
  }

  /** Connects a client with its default options. */
  connect(): Redis {
    const client = new Redis(this.#server.url);
    client.on('error', () => {}); // Without a listener, ioredis prints each failed attempt to connect.
    return client;
  }

  run(command: string, ...args: readonly (string | number)[]): Promise<unknown> {
    return this.#server.run(command, ...args);
  }

  /** Ends the server, so nothing listens on its port. */
  async stop(): Promise<void> {
    await Promise.all([this.rest.stop(), this.#server.stop()]);
  }

  /** From now on, the server accepts connections and commands, and replies to none. */
  pause(): void {
    this.rest.replaceResponses('none');
    this.#server.pause();
  }
}

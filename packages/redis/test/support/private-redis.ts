import { RedisServer } from '@rollgate/test-support';
import { Redis } from 'ioredis';

/** A private server for all tests of a file, so that a test can count its commands. */
export class PrivateRedis {
  #server: RedisServer | undefined;
  readonly #closing: (() => void)[] = [];

  /** Call this once, where the tests are registered. */
  static forThisFile(): PrivateRedis {
    const redis = new PrivateRedis();
    beforeAll(async () => {
      redis.#server = await RedisServer.start();
    });
    afterAll(() => redis.#close());
    return redis;
  }

  get server(): RedisServer {
    return this.#server!;
  }

  /** Creates a separate client, which is closed after the tests. */
  connect(): Redis {
    const client = new Redis(this.server.url);
    this.beforeStop(() => client.disconnect());
    return client;
  }

  /** Registers something to close before the server stops. */
  beforeStop(close: () => void): void {
    this.#closing.push(close);
  }

  /** Returns the number of requests to run a script. */
  async countScriptCalls(): Promise<number> {
    const info = (await this.server.run('INFO', 'commandstats')) as string;
    const count = (command: string) => Number(new RegExp(`cmdstat_${command}:calls=(\\d+)`).exec(info)?.[1] ?? 0);
    return count('evalsha') + count('eval');
  }

  /** Returns the number of requests to run a script that `work` caused. */
  async countScriptCallsOf(work: () => Promise<unknown>): Promise<number> {
    const before = await this.countScriptCalls();
    await work();
    return (await this.countScriptCalls()) - before;
  }

  /** Returns the number of commands that `work` caused, even within scripts. Requests to run a script do not count. */
  async countCommandsOf(work: () => Promise<unknown>): Promise<number> {
    const before = await this.#countCommands();
    await work();
    return (await this.#countCommands()) - before;
  }

  async #countCommands(): Promise<number> {
    const info = (await this.server.run('INFO', 'commandstats')) as string;
    const counts = [...info.matchAll(/cmdstat_(\w+):calls=(\d+)/g)];
    return counts.filter(([, name]) => !/eval|info/.test(name!)).reduce((sum, [, , calls]) => sum + Number(calls), 0);
  }

  async #close(): Promise<void> {
    for (const close of this.#closing) close();
    await this.#server?.stop();
  }
}

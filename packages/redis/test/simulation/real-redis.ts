import { RedisServer } from '@rollgate/test-support';
import { Redis } from 'ioredis';
import { wrapScript } from './simulated-lua.js';

/** What a script returned, and the keys that had expired when it began. */
export interface Ran {
  readonly value: unknown;
  readonly expired: readonly string[];
}

/** The server that runs the scripts, one at a time, each at the time that it is given. */
export class RealRedis {
  readonly #server: RedisServer;
  readonly #client: Redis;
  readonly #shas = new Map<string, string>();

  private constructor(server: RedisServer) {
    this.#server = server;
    this.#client = new Redis(server.url);
  }

  static async start(): Promise<RealRedis> {
    const redis = new RealRedis(await RedisServer.start({ args: ['--lua-time-limit', '60000'] }));
    await redis.#client.ping();
    return redis;
  }

  async stop(): Promise<void> {
    this.#client.disconnect();
    await this.#server.stop();
  }

  async clear(): Promise<void> {
    await this.#client.flushdb();
  }

  /** Makes a script known, and returns by which SHA it runs. */
  async load(text: string, isSliced: boolean): Promise<string> {
    const id = `${isSliced} ${text}`;
    let sha = this.#shas.get(id);
    if (sha === undefined) {
      sha = (await this.#client.script('LOAD', wrapScript(text, isSliced))) as string;
      this.#shas.set(id, sha);
    }
    return sha;
  }

  /** Runs a script that is known. */
  async run(sha: string, keys: readonly string[], argument: string, serverMicros: number): Promise<Ran> {
    const reply = await this.#client.evalsha(sha, keys.length, ...keys, argument, String(serverMicros));
    const [value, expired] = reply as [unknown, string[]];
    if (value instanceof Error) throw value;
    return { value, expired };
  }
}

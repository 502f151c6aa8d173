import { RedisServer } from '@rollgate/test-support';
import { Redis } from 'ioredis';
import { wrapScript } from './simulated-lua.js';

/** The value that a script returned, and the keys that had expired when it started. */
export interface ScriptResult {
  readonly value: unknown;
  readonly expired: readonly string[];
}

/** The real server, which runs one script at a time, each at a given time. */
export class RealRedis {
  readonly #client: Redis;
  readonly #shas = new Map<string, string>();

  private constructor(private readonly server: RedisServer) {
    this.#client = new Redis(server.url);
  }

  static async start(): Promise<RealRedis> {
    const redis = new RealRedis(await RedisServer.start({ args: ['--lua-time-limit', '60000'] }));
    await redis.#client.ping();
    return redis;
  }

  async stop(): Promise<void> {
    this.#client.disconnect();
    await this.server.stop();
  }

  async clear(): Promise<void> {
    await this.#client.flushdb();
  }

  /** Loads a script, and returns its SHA. */
  async load(text: string, isSliced: boolean): Promise<string> {
    const id = `${isSliced} ${text}`;
    let sha = this.#shas.get(id);
    if (sha === undefined) {
      sha = (await this.#client.script('LOAD', wrapScript(text, isSliced))) as string;
      this.#shas.set(id, sha);
    }
    return sha;
  }

  /** Runs a loaded script. */
  async run(
    sha: string,
    keys: readonly string[],
    values: readonly string[],
    serverMicros: number,
  ): Promise<ScriptResult> {
    const reply = await this.#client.evalsha(sha, keys.length, ...keys, ...values, String(serverMicros));
    const [value, expired] = reply as [unknown, string[]];
    if (value instanceof Error) throw value;
    return { value, expired };
  }
}

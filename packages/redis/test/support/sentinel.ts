import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type RedisServer, redisServerBinary, until } from '@rollgate/test-support';
import { freePort } from '@rollgate/test-support/free-port';
import { Redis } from 'ioredis';

// The shell ends with its input, so it ends with this process even if that is killed.
const SCRIPT = '"$1" "$2" --sentinel & sentinel=$!; cat > /dev/null; kill -9 $sentinel';

/** A Sentinel that watches a server, and promotes its replica when the server has ended. */
export class Sentinel {
  static readonly masterName = 'the-master';
  readonly host = '127.0.0.1';
  readonly port: number;
  readonly #folder: string;
  readonly #shell: ChildProcess;

  private constructor(port: number, folder: string, shell: ChildProcess) {
    this.port = port;
    this.#folder = folder;
    this.#shell = shell;
  }

  /** Resolves when the Sentinel has found the server and its replicas. */
  static async start(master: Pick<RedisServer, 'host' | 'port'>, { replicaCount = 1 } = {}): Promise<Sentinel> {
    const folder = mkdtempSync(join(tmpdir(), 'rollgate-sentinel-'));
    const port = await freePort();
    const name = Sentinel.masterName;
    const settings = [
      `port ${port}`,
      'bind 127.0.0.1',
      `dir ${folder}`,
      `sentinel monitor ${name} ${master.host} ${master.port} 1`,
      `sentinel down-after-milliseconds ${name} 500`,
      `sentinel failover-timeout ${name} 5000`,
    ];
    const file = join(folder, 'sentinel.conf');
    writeFileSync(file, `${settings.join('\n')}\n`);
    const args = ['-c', SCRIPT, 'sentinel', await redisServerBinary(), file];
    const sentinel = new Sentinel(port, folder, spawn('/bin/sh', args, { stdio: ['pipe', 'ignore', 'ignore'] }));
    await sentinel.#waitUntil(async (client) => {
      const replicas = (await client.call('SENTINEL', 'REPLICAS', name)) as unknown[];
      return replicas.length === replicaCount && JSON.stringify(replicas).split('"ok"').length > replicaCount;
    });
    return sentinel;
  }

  async stop(): Promise<void> {
    const exited = once(this.#shell, 'exit');
    this.#shell.stdin!.end();
    await exited;
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #waitUntil(isReady: (client: Redis) => Promise<boolean>): Promise<void> {
    const client = new Redis({ port: this.port, retryStrategy: () => 20 });
    client.on('error', () => {}); // The Sentinel is still starting.
    try {
      await until('the Sentinel has found the replica', () => isReady(client).catch(() => false));
    } finally {
      client.disconnect();
    }
  }
}

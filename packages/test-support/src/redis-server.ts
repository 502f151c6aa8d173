import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { CleanupShell } from './cleanup-shell.js';
import { freePort, HOST } from './free-port.js';
import { redisServerBinary } from './redis-server-binary.js';
import { ServerProcess, StartError } from './server-process.js';

/** Options of {@link RedisServer.start}. */
export interface RedisServerOptions {
  /** Further arguments of the server, such as `['--maxmemory', '2mb']`. */
  readonly args?: readonly string[];
  /** @defaultValue a free port */
  readonly port?: number;
  /** Pins the server to this core with `taskset`. */
  readonly core?: number;
}

/** How many ports to try, because another process may take a free port before the server does. */
const ATTEMPTS = 20;

/** A private server on 127.0.0.1. It saves nothing to disk, and ends with this process. */
export class RedisServer {
  readonly host = HOST;
  readonly port: number;
  readonly #command: readonly string[];
  readonly #cleanup: CleanupShell;
  #process: ServerProcess | undefined;
  #connection: Redis | undefined;
  #stopped: Promise<void> | undefined;

  private constructor(binary: string, port: number, { args = [], core }: RedisServerOptions) {
    const folder = mkdtempSync(join(tmpdir(), 'rollgate-redis-'));
    this.port = port;
    this.#command = [
      ...(core === undefined ? [] : ['taskset', '-c', String(core)]),
      binary,
      ...['--port', String(port), '--bind', HOST, '--dir', folder],
      ...['--save', '', '--appendonly', 'no', '--daemonize', 'no'],
      ...args,
    ];
    this.#cleanup = new CleanupShell(folder);
  }

  /**
   * Resolves when the server accepts connections.
   *
   * @throws Error if no server is installed, or if it does not start. The message then contains its output.
   */
  static async start(options: RedisServerOptions = {}): Promise<RedisServer> {
    const binary = await redisServerBinary();
    for (let attempt = 1; ; attempt++) {
      const server = new RedisServer(binary, options.port ?? (await freePort()), options);
      try {
        await server.restart();
        return server;
      } catch (error) {
        await server.stop();
        const canRetry = options.port === undefined && error instanceof StartError && error.portTaken;
        if (!canRetry || attempt === ATTEMPTS) throw error;
      }
    }
  }

  get url(): string {
    return `redis://${this.host}:${this.port}`;
  }

  /** The id of the server's process, which changes with each restart. */
  get pid(): number {
    return this.#running().pid;
  }

  /**
   * Runs a command over a separate connection, which the first command opens. While the server is paused, the promise is
   * pending.
   *
   * @throws Error if the server rejects the command, does not run, or ends before it replies.
   */
  async run(command: string, ...args: readonly (string | number | Buffer)[]): Promise<unknown> {
    this.#running();
    if (this.#connection?.status === 'end') this.#connection = undefined;
    this.#connection ??= this.#connect();
    return this.#connection.call(command, ...args);
  }

  /** Ends the server at once, as a crash does. */
  async kill(): Promise<void> {
    this.#disconnect();
    await this.#process?.kill();
  }

  /** Kills the server if it runs, and starts it again on the same port without any keys. */
  async restart(): Promise<void> {
    await this.kill();
    if (this.#stopped !== undefined)
      throw new Error('Expected a server that was not stopped, got a stopped one. Start a new RedisServer');
    this.#process = await ServerProcess.start(this.#command, this.#cleanup);
  }

  /** Pauses the server's process. The system still accepts connections, but the server does not reply. */
  pause(): void {
    this.#running().signal('SIGSTOP');
  }

  /** Resumes a paused server. It then runs the commands that arrived during the pause. */
  resume(): void {
    this.#running().signal('SIGCONT');
  }

  /** Ends the server in any state, and removes its folder. You may call it twice. */
  stop(): Promise<void> {
    this.#stopped ??= this.kill().then(() => this.#cleanup.finish());
    return this.#stopped;
  }

  #running(): ServerProcess {
    if (!this.#process?.isRunning)
      throw new Error(
        `Expected the Redis server on port ${this.port} to run, got one that has ended. Call restart() first`,
      );
    return this.#process;
  }

  #connect(): Redis {
    const connection = new Redis({
      host: this.host,
      port: this.port,
      protocol: 2,
      retryStrategy: null, // The next command opens a new connection.
      enableReadyCheck: false, // Its commands would change the server's statistics.
      disableClientInfo: true,
    });
    connection.on('error', () => {}); // The pending command rejects with the error.
    return connection;
  }

  #disconnect(): void {
    // Disconnecting a closed connection would keep the process alive for its whole timeout.
    if (this.#connection?.status !== 'end') this.#connection?.disconnect();
    this.#connection = undefined;
  }
}

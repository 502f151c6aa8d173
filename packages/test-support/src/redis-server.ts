import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { Caretaker } from './caretaker.js';
import { freePort, HOST } from './free-port.js';
import { redisServerBinary } from './redis-server-binary.js';
import { ServerProcess, StartError } from './server-process.js';

/** What {@link RedisServer.start} takes. */
export interface RedisServerOptions {
  /** Settings beside the usual ones, such as `['--maxmemory', '2mb']`. */
  readonly args?: readonly string[];
  /** Default: one that is free. */
  readonly port?: number;
  /** The core that the server is pinned to, by `taskset`. */
  readonly core?: number;
}

/** How often a port may turn out to be taken between its choice and its use. */
const ATTEMPTS = 20;

/** A server of this process's own on 127.0.0.1, which saves nothing and does not outlive the process. */
export class RedisServer {
  readonly host = HOST;
  readonly port: number;
  readonly #command: readonly string[];
  readonly #caretaker: Caretaker;
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
    this.#caretaker = new Caretaker(folder);
  }

  /**
   * Resolves when the server answers.
   *
   * @throws Error when there is none to start, or when it does not start, with what it said.
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

  /** The id of the server's process, another one after each restart. */
  get pid(): number {
    return this.#running().pid;
  }

  /**
   * Runs any command, over a connection of its own that is opened for the first one. While the server is paused, the
   * promise waits.
   *
   * @throws Error when the server refuses the command, or is not running or ends meanwhile.
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

  /** Starts the server again on the same port, after {@link kill} if it still runs; it has forgotten all keys. */
  async restart(): Promise<void> {
    await this.kill();
    if (this.#stopped !== undefined) throw new Error('A server that was stopped cannot be restarted');
    this.#process = await ServerProcess.start(this.#command, this.#caretaker);
  }

  /** Freezes the server: connections are accepted and stay open, and nothing is answered. */
  pause(): void {
    this.#running().signal('SIGSTOP');
  }

  /** Lets a paused server go on, with the commands that have come meanwhile. */
  resume(): void {
    this.#running().signal('SIGCONT');
  }

  /** Ends the server whatever its state, and removes its folder. Harmless twice. */
  stop(): Promise<void> {
    this.#stopped ??= this.kill().then(() => this.#caretaker.finish());
    return this.#stopped;
  }

  #running(): ServerProcess {
    if (!this.#process?.isRunning) throw new Error(`The Redis server of port ${this.port} is not running`);
    return this.#process;
  }

  #connect(): Redis {
    const connection = new Redis({
      host: this.host,
      port: this.port,
      protocol: 2,
      retryStrategy: null, // The next command opens a new one.
      enableReadyCheck: false, // It would be counted among the commands.
      disableClientInfo: true,
    });
    connection.on('error', () => {}); // The command that waits for it tells.
    return connection;
  }

  #disconnect(): void {
    // One that is closed already would keep the process for its whole timeout.
    if (this.#connection?.status !== 'end') this.#connection?.disconnect();
    this.#connection = undefined;
  }
}

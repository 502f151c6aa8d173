import { execFile, execFileSync } from 'node:child_process';
import { chmodSync, chownSync, mkdtempSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { CleanupShell } from './cleanup-shell.js';
import { freePort, HOST } from './free-port.js';
import { postgresFolder } from './postgres-binary.js';
import { fillDataFolder } from './postgres-template.js';
import { ServerProcess, type StartError } from './server-process.js';
import { until } from './until.js';

async function runAs(prefix: readonly string[], ...command: readonly string[]): Promise<void> {
  const [file, ...args] = [...prefix, ...command];
  await promisify(execFile)(file!, args);
}

/** Settings of the server, such as `{ fsync: 'off' }`. */
type Settings = Readonly<Record<string, string | number>>;

/** Fills the server's folder, with the programs in `folder` and as the user of the prefix. */
type Fill = (data: string, folder: string, prefix: readonly string[]) => Promise<void>;

/** A private PostgreSQL on 127.0.0.1 with an empty database. It ends with this process. */
export class PostgresServer {
  readonly port: number;
  readonly #prefix: readonly string[];
  readonly #command: readonly string[];
  readonly #cleanup: CleanupShell;
  #process: ServerProcess | undefined;

  private constructor(port: number, prefix: readonly string[], command: readonly string[], cleanup: CleanupShell) {
    this.port = port;
    this.#prefix = prefix;
    this.#command = [...prefix, ...command];
    this.#cleanup = cleanup;
  }

  /**
   * Resolves when the server accepts connections.
   *
   * @throws Error if no server is installed, or if it does not start. The message then contains its output.
   */
  static start(settings: Settings = {}): Promise<PostgresServer> {
    return PostgresServer.#startWith(settings, async (data, folder, prefix) => {
      // Small segments of the log take less time to create.
      const options = ['-U', 'rollgate', '-A', 'trust', '--no-sync', '--wal-segsize=1'];
      const initdb = join(folder, 'initdb');
      await fillDataFolder(data, initdb, options, () => runAs(prefix, initdb, '-D', data, ...options));
    });
  }

  /** Starts a standby of this server, which has its data and follows its changes. */
  startStandby(settings: Settings = {}): Promise<PostgresServer> {
    const options = ['-d', this.url, '--write-recovery-conf', '--checkpoint=fast', '--no-sync'];
    return PostgresServer.#startWith(settings, (data, folder, prefix) =>
      runAs(prefix, join(folder, 'pg_basebackup'), '-D', data, ...options),
    );
  }

  /** Starts a server in a new folder. */
  static async #startWith(settings: Settings, fill: Fill): Promise<PostgresServer> {
    const folder = await postgresFolder();
    const data = mkdtempSync(join(tmpdir(), 'rollgate-postgres-'));
    const prefix = userPrefix(data);
    await fill(data, folder, prefix);
    const port = await freePort();
    const all = { listen_addresses: HOST, port, unix_socket_directories: data, shared_buffers: '32MB', ...settings };
    const flags = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    const command = [join(folder, 'postgres'), '-D', data, ...flags];
    const server = new PostgresServer(port, prefix, command, new CleanupShell(data));
    await server.restart();
    return server;
  }

  /** New connections cannot extend a file beyond so many bytes, as on a full disk. */
  async limitFileSize(bytes: number | 'unlimited'): Promise<void> {
    await runAs(this.#prefix, 'prlimit', `--pid=${this.#process!.pid}`, `--fsize=${bytes}:unlimited`);
  }

  get url(): string {
    return `postgres://rollgate@${HOST}:${this.port}/postgres`;
  }

  /** Ends the server at once, as a crash does. Its data stays. */
  async kill(): Promise<void> {
    await this.#process?.kill();
  }

  /** Kills the server if it runs, and starts it again with its data. */
  async restart(): Promise<void> {
    await this.kill();
    await until('the processes of the killed server have ended', async () => {
      this.#process = await ServerProcess.start(this.#command, this.#cleanup).catch((error: StartError) => {
        if (!error.message.includes('still in use')) throw error;
        return undefined;
      });
      return this.#process !== undefined;
    });
  }

  /** Ends the server, and removes its folder. */
  async stop(): Promise<void> {
    await this.kill();
    await this.#cleanup.finish();
  }
}

/** PostgreSQL does not run as root, so root starts it as the user that Debian's package creates. That user gets the folder. */
export function userPrefix(folder: string): readonly string[] {
  if (userInfo().uid !== 0) return [];
  const idOf = (option: string) => Number(execFileSync('id', [option, 'postgres'], { encoding: 'utf8' }));
  const [uid, gid] = [idOf('-u'), idOf('-g')];
  chownSync(folder, uid, gid);
  chmodSync(folder, 0o700);
  return ['setpriv', `--reuid=${uid}`, `--regid=${gid}`, '--clear-groups'];
}

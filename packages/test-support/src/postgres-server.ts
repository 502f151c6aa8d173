import { execFile, execFileSync } from 'node:child_process';
import { chmodSync, chownSync, mkdtempSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { CleanupShell } from './cleanup-shell.js';
import { freePort, HOST } from './free-port.js';
import { postgresFolder } from './postgres-binary.js';
import { ServerProcess, type StartError } from './server-process.js';
import { until } from './until.js';

const run = promisify(execFile);

/** A private PostgreSQL on 127.0.0.1 with an empty database. It ends with this process. */
export class PostgresServer {
  readonly port: number;
  readonly #command: readonly string[];
  readonly #cleanup: CleanupShell;
  #process: ServerProcess | undefined;

  private constructor(port: number, command: readonly string[], cleanup: CleanupShell) {
    this.port = port;
    this.#command = command;
    this.#cleanup = cleanup;
  }

  /**
   * Resolves when the server accepts connections.
   *
   * @param settings Further settings of the server, such as `{ fsync: 'off' }`.
   * @throws Error if no server is installed, or if it does not start. The message then contains its output.
   */
  static async start(settings: Readonly<Record<string, string | number>> = {}): Promise<PostgresServer> {
    const folder = await postgresFolder();
    const data = mkdtempSync(join(tmpdir(), 'rollgate-postgres-'));
    const prefix = commandPrefix(data);
    const as = (...command: string[]) => [...prefix, ...command] as [string, ...string[]];
    const [initdb, ...initArgs] = as(join(folder, 'initdb'), '-D', data, '-U', 'rollgate', '-A', 'trust', '--no-sync');
    await run(initdb, initArgs);
    const port = await freePort();
    const all = { listen_addresses: HOST, port, unix_socket_directories: data, shared_buffers: '32MB', ...settings };
    const options = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    const server = new PostgresServer(
      port,
      as(join(folder, 'postgres'), '-D', data, ...options),
      new CleanupShell(data),
    );
    await server.restart();
    return server;
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

/** PostgreSQL does not run as root, so root starts it as the user that Debian's package creates. */
function commandPrefix(folder: string): readonly string[] {
  if (userInfo().uid !== 0) return [];
  const idOf = (option: string) => Number(execFileSync('id', [option, 'postgres'], { encoding: 'utf8' }));
  const [uid, gid] = [idOf('-u'), idOf('-g')];
  chownSync(folder, uid, gid);
  chmodSync(folder, 0o700);
  return ['setpriv', `--reuid=${uid}`, `--regid=${gid}`, '--clear-groups'];
}

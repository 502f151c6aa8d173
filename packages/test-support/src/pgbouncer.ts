import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CleanupShell } from './cleanup-shell.js';
import { freePort, HOST } from './free-port.js';
import { type PostgresServer, userPrefix } from './postgres-server.js';
import { findOrInstall, type RequiredProgram } from './required-program.js';
import { ServerProcess } from './server-process.js';

const PGBOUNCER: RequiredProgram = {
  name: 'pgbouncer',
  programs: ['pgbouncer'],
  folders: () => ['/usr/sbin'],
  how: 'Install it (Debian: `apt-get install pgbouncer`, macOS: `brew install pgbouncer`)',
};

/** A private PgBouncer in transaction mode in front of a server. It ends with this process. */
export class PgBouncer {
  readonly port: number;
  readonly #process: ServerProcess;
  readonly #cleanup: CleanupShell;

  private constructor(port: number, process: ServerProcess, cleanup: CleanupShell) {
    this.port = port;
    this.#process = process;
    this.#cleanup = cleanup;
  }

  /** @throws Error if PgBouncer is not installed, or if it does not start. */
  static async start(server: PostgresServer): Promise<PgBouncer> {
    const program = await findOrInstall(PGBOUNCER);
    const folder = mkdtempSync(join(tmpdir(), 'rollgate-pgbouncer-'));
    const port = await freePort();
    const settings = [
      '[databases]',
      `postgres = host=${HOST} port=${server.port} user=rollgate`,
      '[pgbouncer]',
      `listen_addr = ${HOST}`,
      `listen_port = ${port}`,
      'unix_socket_dir =',
      'auth_type = any',
      'pool_mode = transaction',
      'default_pool_size = 4',
    ];
    const file = join(folder, 'pgbouncer.ini');
    writeFileSync(file, settings.join('\n'));
    const cleanup = new CleanupShell(folder);
    return new PgBouncer(port, await ServerProcess.start([...userPrefix(folder), program, file], cleanup), cleanup);
  }

  get url(): string {
    return `postgres://rollgate@${HOST}:${this.port}/postgres`;
  }

  async stop(): Promise<void> {
    await this.#process.kill();
    await this.#cleanup.finish();
  }
}

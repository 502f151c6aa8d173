import type { Connection, Connector } from '../clients/connector.js';

/** A connection that does not respond for this long is broken, so that later transactions get another one. */
const DEADLINE_MS = 10_000;

/** PostgreSQL's code of a write on a read-only server, such as one that has become a standby. */
const READ_ONLY = '25006';

/**
 * Runs `use` with a connection. If it fails, rolls its transaction back, or closes the connection if that is impossible or the server is
 * read-only.
 *
 * @throws Error if the server does not respond to a text within 10 seconds.
 */
export async function withConnection(
  connector: Connector,
  use: (connection: Connection) => Promise<void>,
): Promise<void> {
  const connection = await connector.connect();
  const guarded: Connection = { ...connection, run: (text) => withDeadline(connection.run(text)) };
  try {
    await use(guarded);
  } catch (error) {
    // After a switchover, a new connection may lead to another server.
    const isReadOnly = (error as { code?: string }).code === READ_ONLY;
    const isBroken = await guarded.run('ROLLBACK').then(
      () => isReadOnly,
      () => true,
    );
    connection.release(isBroken);
    throw error;
  }
  connection.release(false);
}

function withDeadline<Result>(running: Promise<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    const message = `PostgreSQL did not respond within ${DEADLINE_MS} ms`;
    const timer = setTimeout(() => reject(new Error(message)), DEADLINE_MS);
    running.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

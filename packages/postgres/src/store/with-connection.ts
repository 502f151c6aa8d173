import type { Connection, Connector } from '../clients/connector.js';

/** A connection that does not respond for this long is broken, so that later transactions get another one. */
const DEADLINE_MS = 10_000;

/**
 * Runs `use` with a connection. If it fails, rolls its transaction back, or closes the connection if that is impossible.
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
    const isBroken = await guarded.run('ROLLBACK').then(
      () => false,
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

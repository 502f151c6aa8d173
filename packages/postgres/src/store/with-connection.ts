import type { Connection, Connector, TextRunner } from '../clients/connector.js';

/** A connection that does not respond for this long is broken, so that later transactions get another one. */
const DEADLINE_MS = 10_000;

/** PostgreSQL's code of a write on a read-only server, such as one that has become a standby. */
const READ_ONLY = '25006';

class SilenceError extends Error {
  override readonly name = 'SilenceError';
}

/**
 * Runs `use` with a connection. If it fails, returns the connection in the background, without an open transaction.
 *
 * @throws Error if the server does not respond to a text within 10 seconds.
 */
export async function withConnection(
  connector: Connector,
  use: (connection: TextRunner) => Promise<void>,
): Promise<void> {
  const connection = await connector.connect();
  let last: Promise<unknown> = Promise.resolve();
  let hasBegun = false;
  const run: Connection['run'] = (text) => {
    hasBegun ||= text.startsWith('BEGIN');
    const running = connection.run(text);
    last = running;
    return withDeadline(running);
  };
  try {
    await use({ run });
  } catch (error) {
    void giveBack(connection, last, error, hasBegun);
    throw error;
  }
  connection.release();
}

/**
 * Closes a connection that does not respond or cannot write, because after a switchover a new one may lead to another server. A
 * client that cannot close it gets it back when the server has responded.
 */
async function giveBack(
  connection: Connection,
  last: Promise<unknown>,
  error: unknown,
  hasBegun: boolean,
): Promise<void> {
  const isBroken = error instanceof SilenceError || (error as { code?: string }).code === READ_ONLY;
  const rollBack = async () => {
    await last.catch(() => {});
    // Without a transaction, the server would log a warning.
    if (!hasBegun) return true;
    return connection.run('ROLLBACK').then(
      () => true,
      () => false,
    );
  };
  if (connection.close === undefined) {
    await rollBack();
    connection.release();
  } else if (!isBroken && (await withDeadline(rollBack()).catch(() => false))) connection.release();
  else connection.close();
}

function withDeadline<Result>(running: Promise<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    const message = `PostgreSQL did not respond within ${DEADLINE_MS} ms`;
    const timer = setTimeout(() => reject(new SilenceError(message)), DEADLINE_MS);
    running.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

import type { Connection, Connector, TextRunner } from '../clients/connector.js';

/** A connection that does not respond for this long is broken, so that later transactions get another one. */
const DEADLINE_MS = 10_000;

/** How long a transaction waits for a connection. An attempt that nobody responds to must not stop the next ones. */
const CONNECT_MS = 5000;

/** PostgreSQL's code of a write on a read-only server, such as one that has become a standby. */
const READ_ONLY = '25006';

class SilenceError extends Error {
  override readonly name = 'SilenceError';
}

/**
 * Runs `use` with a connection. If it fails, returns the connection in the background, without an open transaction.
 *
 * @throws Error if the client has no connection within 5 seconds, or if the server does not respond to a text within 10.
 */
export async function withConnection<Result>(
  connector: Connector,
  use: (connection: TextRunner) => Promise<Result>,
): Promise<Result> {
  const connection = await connect(connector);
  let last: Promise<unknown> = Promise.resolve();
  let hasBegun = false;
  const run: Connection['run'] = (text) => {
    hasBegun ||= text.startsWith('BEGIN');
    const running = connection.run(text);
    last = running;
    return withDeadline(running, DEADLINE_MS, 'did not respond');
  };
  const result = await use({ run }).catch((error: unknown) => {
    void giveBack(connection, last, error, hasBegun);
    throw error;
  });
  connection.release();
  return result;
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
  } else if (!isBroken && (await withDeadline(rollBack(), DEADLINE_MS, 'did not respond').catch(() => false)))
    connection.release();
  else connection.close();
}

async function connect(connector: Connector): Promise<Connection> {
  const connecting = connector.connect();
  try {
    return await withDeadline(connecting, CONNECT_MS, 'gave no connection');
  } catch (error) {
    connecting.then(
      (late) => late.release(),
      () => {},
    );
    throw error;
  }
}

function withDeadline<Result>(running: Promise<Result>, ms: number, failure: string): Promise<Result> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new SilenceError(`PostgreSQL ${failure} within ${ms} ms`)), ms);
    running.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

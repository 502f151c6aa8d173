import { hasMethods, invalidOption } from '@rollgate/core/store';
import type { PgListener, Pglite, PgPool, PostgresJsSql } from './clients.js';
import type { Connector, Listen } from './connector.js';
import { fromPg } from './pg.js';
import { fromPglite } from './pglite.js';
import { fromPostgresJs } from './postgres-js.js';

/** @throws TypeError if the store does not know this kind of client. */
export function createConnector(client: unknown): Connector {
  if (isPostgresJs(client)) return fromPostgresJs(client);
  if (isPglite(client)) return fromPglite(client);
  // A `Client` of pg has a method `connect`, too, which connects this client itself.
  if (hasMethods(client, ['connect', 'query', 'end']) && 'totalCount' in (client as object)) {
    return fromPg(client as PgPool);
  }
  throw invalidOption('client', 'a `Pool` of pg, the function of Postgres.js or a `PGlite` instance', client);
}

/** @throws TypeError if this client receives no notifications. */
export function createListen(listener: unknown): Listen {
  if (isPostgresJs(listener) || isPglite(listener)) {
    return (channel, onMessage) => listener.listen(channel, onMessage);
  }
  if (hasMethods(listener, ['connect', 'query', 'on']) && !('totalCount' in (listener as object))) {
    return listenWithPg(listener as PgListener);
  }
  throw invalidOption(
    'listener',
    'a connected `Client` of pg, the function of Postgres.js or a `PGlite` instance',
    listener,
  );
}

function listenWithPg(client: PgListener): Listen {
  return (name, onMessage) => {
    client.on('notification', ({ channel, payload = '' }) => {
      if (channel === name) onMessage(payload);
    });
    // Without a listener, a lost connection would end the process.
    client.on('error', () => {});
    return client.query(`LISTEN "${name}"`);
  };
}

function isPostgresJs(client: unknown): client is PostgresJsSql {
  return typeof client === 'function' && 'reserve' in client && 'unsafe' in client;
}

function isPglite(client: unknown): client is Pglite {
  return hasMethods(client, ['exec', 'listen', 'transaction']);
}

import { subscribe } from 'node:diagnostics_channel';

/** What undici publishes when it cannot connect: the lookup, the connection or the TLS handshake has failed. */
interface FailedConnect {
  readonly connectParams: { readonly protocol: string; readonly host: string };
  readonly error: unknown;
}

/** How deep causes are read. They may form a circle. */
const MAX_DEPTH = 5;

/** The origins that undici could not connect to, by the errors of the connects. Few of these errors name their server. */
const origins = new WeakMap<object, string>();
let isWatching = false;

/** Notes failed connects from now on. The `fetch` of Node uses undici. */
export function watchConnects(): void {
  if (isWatching) return;
  isWatching = true;
  subscribe('undici:client:connectError', (message) => {
    const { connectParams, error } = message as FailedConnect;
    if (isObject(error)) origins.set(error, `${connectParams.protocol}//${connectParams.host}`);
  });
}

/**
 * Whether an error of a call, or one of its causes, is that undici could not connect to this origin. So the call has not reached the
 * server, unless this has redirected it to itself before. A connect to another name or address is not recognized, such as that of the
 * interceptor `dns` or after a redirection.
 */
export function isFailedConnect(error: unknown, origin: string): boolean {
  try {
    let cause = error;
    for (let depth = 0; depth < MAX_DEPTH && isObject(cause); depth++) {
      if (origins.has(cause)) return origins.get(cause) === origin;
      ({ cause } = cause as { cause?: unknown });
    }
  } catch {
    // A getter of the error has thrown.
  }
  return false;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

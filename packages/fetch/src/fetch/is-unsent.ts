/** The errors of a connection that was never made, and of a dispatcher that does not send the request. */
const CODES = [
  ...['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH'],
  ...['UND_ERR_CONNECT_TIMEOUT', 'UND_ERR_CLOSED', 'UND_ERR_INVALID_ARG'],
];
/** The system calls before a connection is made. */
const SYSCALLS = ['connect', 'getaddrinfo'];
/** The errors of a TLS handshake, which comes before the request: the certificate is invalid, or the server has no TLS. */
const HANDSHAKE = /^(?:CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|ERR_TLS_CERT_|ERR_SSL_WRONG_VERSION_NUMBER$)/;
/** How deep causes are read. They may form a circle. */
const MAX_DEPTH = 5;

interface NetworkError {
  readonly code?: unknown;
  readonly syscall?: unknown;
  readonly cause?: unknown;
  readonly errors?: unknown;
  readonly hostname?: unknown;
  readonly address?: unknown;
  readonly port?: unknown;
}

/**
 * Whether a request surely has not reached the server, so that it cannot have used any quota.
 *
 * @param url The address of the call, if the request may have been redirected. An error of another server then shows that the first
 * one has responded.
 */
export function isUnsent(error: unknown, url?: URL): boolean {
  try {
    return isOfConnecting(error, url, MAX_DEPTH);
  } catch {
    return false; // A getter of the error has thrown.
  }
}

function isOfConnecting(error: unknown, url: URL | undefined, depth: number): boolean {
  if (typeof error !== 'object' || error === null || depth === 0) return false;
  const { cause, errors } = error as NetworkError;
  if (Array.isArray(errors) && errors.length > 0) {
    return errors.every((one) => isOfConnecting(one, url, depth - 1)); // One for each address of the host.
  }
  if (hasConnected(error)) return isOfConnecting(cause, url, depth - 1);
  return url === undefined || !isOfAnotherServer(error, url);
}

function hasConnected({ code, syscall }: NetworkError): boolean {
  if (syscall !== undefined) return !SYSCALLS.includes(syscall as string);
  return !CODES.includes(code as string) && !HANDSHAKE.test(String(code));
}

/** Errors of connections have an address and a port, and those of lookups a host. */
function isOfAnotherServer({ hostname, address, port }: NetworkError, url: URL): boolean {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const ownPort = url.port || (url.protocol === 'https:' ? '443' : '80');
  const isAddress = host.includes(':') || /^[\d.]+$/.test(host);
  return (
    (hostname !== undefined && hostname !== host) ||
    (port !== undefined && String(port) !== ownPort) ||
    (address !== undefined && isAddress && address !== host)
  );
}

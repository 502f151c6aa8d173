import type { RequestHandler } from 'express';

const LOCAL_NAMES = ['localhost', '127.0.0.1', '[::1]'];

/**
 * Accepts requests to the playground's own names, and rejects others.
 *
 * A rejection has the status 403. Such requests come from pages of other sites, or from pages whose name points to this
 * machine. Programs that send no `Origin`, such as curl, are accepted.
 *
 * @param host An additional name of the server for browsers, with its port unless that is the scheme's default.
 */
export function allowHosts(host: string | undefined): RequestHandler {
  return (request, _response, next) => {
    const { host: hostHeader = '', origin } = request.headers;
    const port = request.socket.localPort;
    const names = LOCAL_NAMES.map((name) => (port === 80 ? name : `${name}:${port}`));
    if (host !== undefined) names.push(host);
    const isOwn = (name: string) => names.includes(name.toLowerCase());
    if (!isOwn(hostHeader)) next(createForeignHostError('Host', names, hostHeader));
    else if (origin !== undefined && !isOwn(hostOf(origin))) next(createForeignHostError('Origin', names, origin));
    else next();
  };
}

/** @throws TypeError if the text is not a host. */
export function toHost(text: string): string {
  const host = hostOf(`http://${text}`);
  if (host !== '' && host === text.toLowerCase()) return host;
  throw new TypeError(
    `Expected \`HOST\` to be a host with an optional port, such as demo.example:8443, got ${JSON.stringify(text)} (string)`,
  );
}

/** The host of a URL with its port, unless that is the scheme's default. Empty if the URL is invalid. */
function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : '';
}

function createForeignHostError(header: string, names: readonly string[], value: string): Error {
  const message =
    `Expected \`${header}\` to be one of ${names.join(', ')}, got ${JSON.stringify(value)}. ` +
    'To use another name, set `HOST` to it';
  return Object.assign(new Error(message), { status: 403 });
}

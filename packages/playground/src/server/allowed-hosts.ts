import type { RequestHandler } from 'express';

const LOCAL_NAMES = ['localhost', '127.0.0.1', '[::1]'];

/**
 * Lets requests to the playground's own names through, and rejects others with 403: those of a page of another site, and
 * those of a page whose name was pointed at this machine. Programs that send no `Origin`, such as curl, are allowed.
 *
 * @param host One more name by which browsers reach the server, with its port unless that is the scheme's own.
 */
export function allowHosts(host: string | undefined): RequestHandler {
  return (request, _response, next) => {
    const { host: asked = '', origin } = request.headers;
    const port = request.socket.localPort;
    const names = LOCAL_NAMES.map((name) => (port === 80 ? name : `${name}:${port}`));
    if (host !== undefined) names.push(host);
    const isOwn = (name: string) => names.includes(name.toLowerCase());
    if (!isOwn(asked)) next(foreign('Host', names, asked));
    else if (origin !== undefined && !isOwn(hostOf(origin))) next(foreign('Origin', names, origin));
    else next();
  };
}

/** @throws TypeError when it is none. */
export function toHost(text: string): string {
  const host = hostOf(`http://${text}`);
  if (host !== '' && host === text.toLowerCase()) return host;
  throw new TypeError(
    `Expected \`HOST\` to be a host with an optional port, such as demo.example:8443, got ${JSON.stringify(text)} (string)`,
  );
}

/** With the port, unless it is the scheme's own; empty when there is none. */
function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : '';
}

function foreign(header: string, names: readonly string[], got: string): Error {
  const message =
    `Expected \`${header}\` to be one of ${names.join(', ')}, got ${JSON.stringify(got)}. ` +
    'To use another name, set `HOST` to it';
  return Object.assign(new Error(message), { status: 403 });
}

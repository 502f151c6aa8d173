import { type Connection, connectionOf, type Framework } from '@rollgate/http';
import type { Request, Response } from 'express';

/** How the limiter reads Express's requests and changes its responses. */
export const EXPRESS: Framework<Request, Response> = {
  name: 'rateLimit',
  ownOptions: ['address', 'handler', 'requestPropertyName'],
  resetUnit: 'epoch',
  getClientAddress,
  getRequestHeader: (request, name) => request.headers[name],
  getConnection,
  isDisconnected: (request) => request.socket.destroyed,
  haveOwnClasses: true,
  getNodeResponse: (response) => response,
};

/** Returns whether the app trusts this address as that of a proxy, the public `trust proxy fn` of an app. */
type Trusts = (address: string, hop: number) => boolean;

/** The apps of the prototypes whose `ip` is decided by the trust function; `null` for all other prototypes. */
const appsOfPrototypes = new WeakMap<object, Request['app'] | null>();

/**
 * Returns `request.ip`, but reads it only if the app trusts the address of the socket, because the getter creates lists of all
 * addresses, which takes as long as a fifth of the limiter. Outside of Express, as in Connect, it is the socket's address.
 */
function getClientAddress(request: Request): string | undefined {
  const prototype: object = Object.getPrototypeOf(request);
  let app = appsOfPrototypes.get(prototype);
  if (app === undefined) {
    app = isDecidedByTrust(prototype) ? (prototype as Request).app : null;
    appsOfPrototypes.set(prototype, app);
  }
  if (app === null || Object.hasOwn(request, 'ip'))
    return isOfExpress(request) ? request.ip : (request.ip ?? peerOf(request));
  const address = request.socket.remoteAddress;
  const trusts: Trusts = app.get('trust proxy fn');
  return address !== undefined && !trusts(address, 0) ? address : request.ip;
}

/** Other frameworks with Node's requests have no app there. */
const isOfExpress = ({ app }: { readonly app?: unknown }): boolean => app !== undefined;

const peerOf = ({ socket }: Request): string | undefined => socket?.remoteAddress;

function getConnection(request: Request): Connection {
  const peer = peerOf(request);
  return isOfExpress(request) ? connectionOf(request, peer, (probe) => probe) : { peer };
}

/** Addresses that code may distinguish. */
const PROBED = ['203.0.113.254', '10.1.2.3', '127.0.0.1', '::1', '::ffff:10.1.2.3'];
/** What Express's getter reads. */
const READ = ['ip', 'app', 'socket', 'connection', 'headers', 'remoteAddress', 'x-forwarded-for', 'trust proxy fn'];

/**
 * Whether the getter `ip` of these requests returns the socket's address if the app does not trust it, and reads nothing else
 * than Express's getter. An app may have replaced it, for example by one that reads another header.
 */
function isDecidedByTrust(prototype: object): boolean {
  if (!Object.hasOwn(prototype, 'app')) return false;
  const read = new Set<string>();
  const record = <Recorded extends object>(recorded: Recorded): Recorded =>
    new Proxy(recorded, {
      get(target, name, receiver) {
        read.add(String(name));
        return Reflect.get(target, name, receiver);
      },
    });
  const get = (name: string) => {
    read.add(name);
    return () => false;
  };
  const isPeer = (address: string) => {
    const socket = { remoteAddress: address };
    const headers = { 'x-forwarded-for': '192.0.2.1' };
    const own = { headers: record(headers), socket: record(socket), connection: record(socket), app: { get } };
    const probe = record(Object.create(prototype, Object.getOwnPropertyDescriptors(own)) as Request);
    return probe.ip === address;
  };
  return PROBED.every(isPeer) && read.has('trust proxy fn') && [...read].every((name) => READ.includes(name));
}

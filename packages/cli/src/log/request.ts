import { type ClientFinder, valueOrUndefined } from './client.js';

/** A request in a line of a log. */
export interface Request {
  /** Microseconds since the epoch, or NaN if the line has no time. */
  readonly micros: number;
  /** The caller's key, or `undefined` if the line has none. */
  readonly key: string | undefined;
  /** Units. */
  readonly cost: number;
  /** Only if a filter needs them. */
  readonly path?: string | undefined;
  readonly method?: string | undefined;
}

/** Parses a line to a request, returns why it is not one, or `undefined` for a comment or header. */
export type Parse = (line: string) => Request | string | undefined;

/** Where every format may have the key of a caller. */
export type CommonKeySource = 'ip' | 'forwarded' | 'user' | 'path';

/** Where the key of a caller is. */
export interface KeySource {
  /** How to read the key. A `field` stays unchanged, and an address or path is normalized. */
  readonly kind: CommonKeySource | 'field';
  /** The named field with the key, or `undefined` for the common names. */
  readonly field: string | undefined;
}

/** Which values of a line are its key, its time and its cost. */
export interface Selectors {
  readonly keySource: KeySource;
  /** The named field with the time. Without it, common names are tried. Dots select nested fields. */
  readonly time: string | undefined;
  /** The named field with the cost. Without it, each request costs 1. */
  readonly cost: string | undefined;
  readonly clients: ClientFinder;
  /** Whether requests have their path and method. */
  readonly needsTarget: boolean;
}

/** The parts of a line of a format that has no named fields. */
export interface RequestParts {
  readonly address?: string | undefined;
  /** `X-Forwarded-For`. */
  readonly forwarded?: string | undefined;
  readonly user?: string | undefined;
  /** Such as `GET /path?query HTTP/1.1`. */
  readonly request?: string | undefined;
}

/** Creates a request of a format that has no named fields. */
export function toRequest(selectors: Selectors, micros: number, parts: RequestParts): Request {
  const key = keyOf(selectors, parts);
  if (!selectors.needsTarget) return { micros, key, cost: 1 };
  const { request = '' } = parts;
  return { micros, key, cost: 1, path: targetOf(request), method: request.split(' ', 1)[0] };
}

function keyOf({ keySource: { kind }, clients }: Selectors, parts: RequestParts): string | undefined {
  const { address, forwarded, user, request } = parts;
  if (kind === 'user') return valueOrUndefined(user);
  if (kind === 'path') return request === undefined ? undefined : valueOrUndefined(targetOf(request));
  if (kind === 'forwarded') return clients.byForwarded(forwarded, address);
  return address === undefined ? clients.byForwarded(forwarded, undefined) : clients.byAddress(address);
}

/** Returns the path of `GET /path HTTP/1.1` without its query and without `http://host:port`. */
export function targetOf(request: string): string {
  const [, target = ''] = request.split(' ', 2);
  return withoutQuery(target);
}

/** Removes the host and the query, so that varying it does not create new callers. */
export function withoutQuery(target: string): string {
  const path = target.replace(/^https?:\/\/[^/?]*/, '');
  const end = path.indexOf('?');
  return end === -1 ? path : path.slice(0, end);
}

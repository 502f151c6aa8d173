import type { SelectClient } from './forwarded.js';

/** A request in a line of a log. */
export interface Request {
  /** Microseconds since the epoch, or NaN if the line has no time. */
  readonly micros: number;
  /** The caller's key, or `undefined` if the line has none. */
  readonly key: string | undefined;
  /** Units. */
  readonly cost: number;
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
  readonly selectClient: SelectClient;
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

/** Returns the caller's key, or `undefined` if the line has none. */
export function keyOf({ keySource, selectClient }: Selectors, parts: RequestParts): string | undefined {
  const { address, forwarded, user, request } = parts;
  if (keySource.kind === 'user') return valueOrUndefined(user);
  if (keySource.kind === 'path') return request === undefined ? undefined : valueOrUndefined(targetOf(request));
  if (keySource.kind === 'forwarded') return valueOrUndefined(selectClient(forwarded ?? '', address));
  return valueOrUndefined(address ?? selectClient(forwarded ?? '', undefined));
}

/** Returns the path of `GET /path HTTP/1.1` without its query and without `http://host:port`. */
export function targetOf(request: string): string {
  const [, target = ''] = request.split(' ', 2);
  return withoutQuery(target.replace(/^https?:\/\/[^/?]*/, ''));
}

/** Removes the query, so that varying it does not create new callers. */
export function withoutQuery(target: string): string {
  const end = target.indexOf('?');
  return end === -1 ? target : target.slice(0, end);
}

/** Returns `undefined` for dashes, which stand for a missing value. */
export function valueOrUndefined(text: string | undefined): string | undefined {
  return text === undefined || text === '' || /^[- ]+$/.test(text) ? undefined : text;
}

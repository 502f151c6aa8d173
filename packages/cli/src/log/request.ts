/** A request in a line of a log. */
export interface Request {
  /** Microseconds since the epoch. */
  readonly micros: number;
  /** The caller's key, or `undefined` if the line has none. */
  readonly key: string | undefined;
  /** Units. */
  readonly cost: number;
}

/** Parses a line to a request, or returns why it is not one. */
export type Parse = (line: string) => Request | string;

/** What identifies a caller in every format. */
export type CommonBy = 'ip' | 'user' | 'path';

/** What identifies a caller. */
export interface By {
  /** How to read the key. A `field` stays unchanged, and an address or path is normalized. */
  readonly kind: CommonBy | 'field';
  /** The JSON field with the key, or `undefined` for the common names. */
  readonly field: string | undefined;
}

/** Removes the query, so that varying it does not create new callers. */
export function withoutQuery(target: string): string {
  const end = target.indexOf('?');
  return end === -1 ? target : target.slice(0, end);
}

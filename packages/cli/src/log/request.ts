/** What a line of a log tells of a request. */
export interface Request {
  /** Microseconds since the epoch. */
  readonly micros: number;
  /** Whom it counts for; `undefined` when the line does not say. */
  readonly key: string | undefined;
  /** Units. */
  readonly cost: number;
}

/** Reads a line of one format: a request, or why it is none. */
export type Parse = (line: string) => Request | string;

/** What every format has that tells one caller from another. */
export type CommonBy = 'ip' | 'user' | 'path';

/** What tells one caller from another. */
export interface By {
  /** What the key is: a `field` counts as it is written, an address or a path as those do. */
  readonly kind: CommonBy | 'field';
  /** The field of JSON lines that has it; `undefined` for those of usual names. */
  readonly field: string | undefined;
}

/** The path alone: who varies the query asks for the same. */
export function withoutQuery(target: string): string {
  const end = target.indexOf('?');
  return end === -1 ? target : target.slice(0, end);
}

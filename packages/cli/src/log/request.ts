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

/** What tells one caller from another: a part of a line that every format has, or a field of JSON lines by its name. */
export type By = CommonBy | { readonly field: string };
/** See {@link By}. */
export type CommonBy = 'ip' | 'user' | 'path';

/** The path alone: who varies the query asks for the same. */
export function withoutQuery(target: string): string {
  const end = target.indexOf('?');
  return end === -1 ? target : target.slice(0, end);
}

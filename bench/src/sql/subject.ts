import type { RedisSubject } from '../redis/subjects.js';

/** A limiter that keeps its state in a SQL database. */
export type SqlSubject = Pick<RedisSubject, 'check' | 'isRejection'>;

/** The databases of the benchmark. */
export type Backend = 'postgres' | 'sqlite';

export const COUNTER = 'counter';
export const SQL_SUBJECT_NAMES = ['rollgate', 'rate-limiter-flexible', COUNTER] as const;
export type SqlSubjectName = (typeof SQL_SUBJECT_NAMES)[number];

export interface SqlSettings {
  readonly limit: number;
  /** With it, each check is so much later than the one before, so full logs lose one hit for each new one. */
  readonly stepMs?: number;
  readonly windowMs: number;
}

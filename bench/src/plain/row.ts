/** One figure of the plain path. */
export interface PlainRow {
  readonly what: string;
  /** A ratio, or a count of instructions. */
  readonly value: number;
  readonly bar?: readonly ['at most' | 'at least', number];
  readonly isCount?: boolean;
}

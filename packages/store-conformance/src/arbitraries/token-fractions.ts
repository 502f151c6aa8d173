/**
 * Into how many fractions the token buckets of a history divide a microsecond. All buckets of one history use the same
 * number, because a store may choose how one bucket reads the fractions of another.
 */
export type TokenFractions = 1 | 3 | 7;

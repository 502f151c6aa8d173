/**
 * The number of fractions into which the token buckets of a history divide a microsecond. All buckets of one history use the same
 * number, because a store may choose how one bucket reads the fractions of another.
 */
export type TokenFractions = 1 | 3 | 7;

/**
 * The lease of all slots of a history, in milliseconds. If leases of different lengths end at the same time, a store may
 * choose by which of them it detects a broken clock. So all leases of a history have one length.
 */
export const leases: Readonly<Record<TokenFractions, number>> = { 1: 6, 3: 9, 7: 3 };

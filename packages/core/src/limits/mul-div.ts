// Below 2^53 a quotient that is not whole is further from the next whole number than rounding can carry it; so it is exact
// to round the quotient of numbers as they are, and only greater products need more.

/** The whole part of `a * b / c`. All are whole numbers from 0, `c` above. */
export function mulDiv(a: number, b: number, c: number): number {
  const product = a * b;
  if (product <= Number.MAX_SAFE_INTEGER) return Math.floor(product / c);
  return Number((BigInt(a) * BigInt(b)) / BigInt(c));
}

/** `(a * b + d) / c`, rounded up. All are whole numbers from 0, `c` above. */
export function mulDivUp(a: number, b: number, c: number, d = 0): number {
  const dividend = a * b + d;
  if (dividend <= Number.MAX_SAFE_INTEGER) return Math.ceil(dividend / c);
  return Number((BigInt(a) * BigInt(b) + BigInt(d) + BigInt(c) - 1n) / BigInt(c));
}

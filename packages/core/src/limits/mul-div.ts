// Up to 2^53, rounding the floating-point quotient is exact: a quotient that is not whole differs from the next whole
// number by more than its rounding error. Only larger products need BigInt.

/** Returns `a * b / c`, rounded down. All are integers from 0, and `c` is positive. */
export function mulDiv(a: number, b: number, c: number): number {
  const product = a * b;
  if (product <= Number.MAX_SAFE_INTEGER) return Math.floor(product / c);
  return Number((BigInt(a) * BigInt(b)) / BigInt(c));
}

/** Returns the remainder of `a * b / c`. All are integers from 0, and `c` is positive. */
export function mulMod(a: number, b: number, c: number): number {
  const product = a * b;
  if (product <= Number.MAX_SAFE_INTEGER) return product % c;
  return Number((BigInt(a) * BigInt(b)) % BigInt(c));
}

/** Returns `(a * b + d) / c`, rounded up. All are integers from 0, and `c` is positive. */
export function mulDivUp(a: number, b: number, c: number, d = 0): number {
  const dividend = a * b + d;
  if (dividend <= Number.MAX_SAFE_INTEGER) return Math.ceil(dividend / c);
  return Number((BigInt(a) * BigInt(b) + BigInt(d) + BigInt(c) - 1n) / BigInt(c));
}

/** Returns the greatest common divisor of two integers from 0. */
export function greatestCommonDivisor(one: number, other: number): number {
  return other === 0 ? one : greatestCommonDivisor(other, one % other);
}

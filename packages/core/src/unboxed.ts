/**
 * Returns the same number, as V8 stores it without a box if it is an integer of 32 bits. V8 boxes the result of a
 * calculation with larger numbers, even if the result is small.
 */
export function unboxed(value: number): number {
  const integer = value | 0;
  return integer === value ? integer : value;
}

/**
 * Returns the same number, in the form that V8 stores without a box: an integer of 32 bits, or of 31 with compressed
 * pointers. V8 boxes the result of a calculation with larger numbers, even if the result is small.
 */
export function unboxNumber(value: number): number {
  const integer = value | 0;
  return integer === value ? integer : value;
}

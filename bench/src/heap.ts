/** The bytes in use after garbage collection, in the heap and in buffers outside it. */
export function usedBytes(): number {
  for (let time = 0; time < 3; time++) globalThis.gc!();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

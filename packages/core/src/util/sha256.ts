/** The first 32 bits of the fractions of `root(prime)`, for the first `count` primes. */
function fractionsOfRoots(count: number, exponent: number): Int32Array {
  const words = new Int32Array(count);
  for (let found = 0, candidate = 2; found < count; candidate++) {
    let divisor = 2;
    while (candidate % divisor !== 0) divisor++;
    if (divisor < candidate) continue;
    words[found] = (candidate ** exponent % 1) * 2 ** 32;
    found++;
  }
  return words;
}

let initialHash: Int32Array | undefined;
let constants: Int32Array;

const rotate = (word: number, bits: number) => (word >>> bits) | (word << (32 - bits));

/**
 * Returns the SHA-256 of the text's UTF-16 code units, little-endian (FIPS 180-4, section 6.2). Only for platforms without
 * a synchronous hash: the Web Crypto API returns promises, and a store in memory decides synchronously.
 */
export function sha256(text: string): Uint8Array {
  initialHash ??= fractionsOfRoots(8, 1 / 2);
  constants ??= fractionsOfRoots(64, 1 / 3);
  const hash = initialHash.slice();
  const length = 2 * text.length;
  const padded = new DataView(new ArrayBuffer((((length + 8) >> 6) + 1) << 6));
  for (let index = 0; index < text.length; index++) padded.setUint16(2 * index, text.charCodeAt(index), true);
  padded.setUint8(length, 0x80);
  padded.setUint32(padded.byteLength - 8, length / 2 ** 29);
  padded.setUint32(padded.byteLength - 4, length << 3);
  const words = new Int32Array(64);
  for (let start = 0; start < padded.byteLength; start += 64) {
    for (let index = 0; index < 16; index++) words[index] = padded.getInt32(start + 4 * index);
    addBlock(hash, words);
  }
  hash.forEach((word, index) => {
    padded.setInt32(4 * index, word);
  });
  return new Uint8Array(padded.buffer, 0, 32);
}

/** Adds one block to the hash. `words` has its 16 words, and room for 48 more. */
function addBlock(hash: Int32Array, words: Int32Array): void {
  for (let index = 16; index < 64; index++) {
    const before15 = words[index - 15]!;
    const before2 = words[index - 2]!;
    const low = rotate(before15, 7) ^ rotate(before15, 18) ^ (before15 >>> 3);
    const high = rotate(before2, 17) ^ rotate(before2, 19) ^ (before2 >>> 10);
    words[index] = words[index - 16]! + low + words[index - 7]! + high;
  }
  let [a, b, c, d, e, f, g, h] = hash as unknown as [number, number, number, number, number, number, number, number];
  for (let index = 0; index < 64; index++) {
    const choice = (e & f) ^ (~e & g);
    const sumOfE = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
    const first = (h + sumOfE + choice + constants[index]! + words[index]!) | 0;
    const majority = (a & b) ^ (a & c) ^ (b & c);
    const sumOfA = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
    [h, g, f, e, d, c, b, a] = [g, f, e, (d + first) | 0, c, b, a, (first + sumOfA + majority) | 0];
  }
  [a, b, c, d, e, f, g, h].forEach((word, index) => {
    hash[index] = hash[index]! + word;
  });
}

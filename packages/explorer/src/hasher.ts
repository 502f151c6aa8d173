import { createHash } from 'node:crypto';

/** The number for `undefined` and for `-Infinity`. */
const NONE = 0x5bd1e995;

/**
 * Two 32-bit hashes of the same numbers, read as one of 53 bits. Among n different states, the probability that any two
 * collide is about n² / 2^54: 0.6 % for ten million. After a collision, the futures of one state stay unexplored.
 */
export class Hasher {
  #one = 0;
  #two = 0;
  #nowMicros = 0;
  #horizonMicros = 0;
  #momentsFrom = 0;
  /** The objects within the values that were added, in their order. */
  #objects: unknown[] = [];

  /** Starts a hash. Numbers from `momentsFrom` on are moments. They count relative to now, at most a horizon back. */
  start(nowMicros: number, horizonMicros: number, momentsFrom: number): void {
    this.#one = 0x9747b28c;
    this.#two = 0x1b873593;
    this.#nowMicros = nowMicros;
    this.#horizonMicros = horizonMicros;
    this.#momentsFrom = momentsFrom;
    this.#objects.length = 0;
  }

  number(value: number): void {
    if ((value | 0) === value) this.#mix(value);
    else if (value >= this.#momentsFrom && value < Infinity)
      this.number(Math.max(value - this.#nowMicros, -this.#horizonMicros));
    else if (Number.isFinite(value)) {
      this.#mix(NONE + 1);
      this.#mix((value % 2 ** 32) | 0);
      this.#mix(Math.floor(value / 2 ** 32));
    } else this.#mix(value > 0 ? NONE + 2 : NONE);
  }

  /** Adds a plain value, or one whose `toJSON` shows its private fields. */
  value(value: unknown): void {
    if (typeof value === 'number') this.number(value);
    else if (typeof value === 'bigint') this.number(Number(value));
    else if (Array.isArray(value)) {
      this.#mix(value.length);
      for (const one of value) this.value(one);
    } else if (typeof value === 'object' && value !== null) this.#object(value);
    else this.#mix(NONE);
  }

  /** The index of this object among those that were added, or -1. Compares by identity. */
  indexOf(value: unknown): number {
    return this.#objects.indexOf(value);
  }

  /** Adds the sum of several `pair`s, so their order does not matter. */
  sum(others: { one: number; two: number }): void {
    this.#mix(others.one);
    this.#mix(others.two);
  }

  /** Both hashes, to be summed. */
  get pair(): { one: number; two: number } {
    return { one: avalanche(this.#one), two: avalanche(this.#two) };
  }

  /** A whole number above 0 and below 2^53. */
  get hash(): number {
    return (avalanche(this.#one) >>> 0) * 2 ** 21 + (avalanche(this.#two) >>> 11) || 1;
  }

  #object(value: object): void {
    this.#objects.push(value);
    for (const name in value) {
      const part = (value as Record<string, unknown>)[name];
      if (typeof part !== 'function') this.value(part);
    }
    if ('toJSON' in value) this.value((value as { toJSON(): unknown }).toJSON());
  }

  #mix(value: number): void {
    const one = Math.imul(this.#one ^ Math.imul(value, 0xcc9e2d51), 0x85ebca6b);
    this.#one = (one << 13) | (one >>> 19);
    const two = Math.imul(this.#two + Math.imul(value ^ 0x2545f491, 0xc2b2ae35), 0x27d4eb2f);
    this.#two = (two << 17) | (two >>> 15);
  }
}

function avalanche(hash: number): number {
  let mixed = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
}

/** A hash of a text, for models whose states are texts. */
export function hashOf(text: string): number {
  return createHash('sha1').update(text).digest().readUIntBE(0, 6) + 1;
}

import { withCode } from '../validation/error-codes.js';

/** 8,192 numbers, which are 64 KiB. */
export const CHUNK_BITS = 13;
const CHUNK_SIZE = 1 << CHUNK_BITS;
/** The bits of an address that are an offset. */
export const OFFSET_MASK = CHUNK_SIZE - 1;

/** An address has 32 bits. */
const MOST_CHUNKS = 2 ** (32 - CHUNK_BITS);

/** How many empty chunks keep their memory. With none, a store of one key that comes and goes would allocate often. */
const MOST_SPARE = 2;

/** The array of a chunk without memory. */
export const NO_NUMBERS = new Float64Array(0);
const NONE = -1;

/** An array that is cut into cells of one size, and which of them are in use. */
interface Chunk {
  readonly index: number;
  /** `NO_NUMBERS` in a chunk without memory. */
  numbers: Float64Array;
  /** How many numbers a cell has. */
  cellSize: number;
  /** How many cells are in use. */
  used: number;
  /** The end of the cells that have ever been in use. */
  end: number;
  /** A cell that was released, or `NONE`. Its first number is the next such cell. */
  released: number;
}

/** The chunks of one cell size. */
interface SizeClass {
  /** The chunk from which the next cell comes. */
  current: Chunk | undefined;
  /** Other chunks that have both used and free cells. */
  readonly open: Set<Chunk>;
}

/**
 * Allocates cells of numbers outside the heap, so that garbage collection neither copies nor visits them. An address
 * is a chunk's index and an offset, in the upper and lower bits of an unsigned 32-bit integer. A chunk is as many whole
 * cells as fit into 8,192 numbers, and at least one.
 *
 * A chunk that becomes empty serves any size whose chunks are as long, and a few such chunks keep their memory. The
 * others free theirs, so all memory can be used again. Until then a chunk serves its own size, even if only one of its
 * cells is in use.
 */
export class Slab {
  /** By the upper bits of the addresses of their cells. */
  readonly chunks: Chunk[] = [];
  #classes = new Map<number, SizeClass>();
  /** Empty chunks that keep their memory. */
  #spare: Chunk[] = [];
  /** Empty chunks without memory. */
  #empty: Chunk[] = [];

  /** Returns the address of a cell with at least `size` numbers, of any value. */
  allocate(size: number): number {
    const cellSize = roundUp(size);
    let sizeClass = this.#classes.get(cellSize);
    if (sizeClass === undefined) {
      sizeClass = { current: undefined, open: new Set() };
      this.#classes.set(cellSize, sizeClass);
    }
    let chunk = sizeClass.current;
    if (chunk === undefined || (chunk.released === NONE && chunk.end + cellSize > chunk.numbers.length)) {
      chunk = this.#nextChunk(sizeClass, cellSize);
      sizeClass.current = chunk;
    }
    let offset = chunk.released;
    if (offset === NONE) {
      offset = chunk.end;
      chunk.end += cellSize;
    } else {
      chunk.released = chunk.numbers[offset]!;
    }
    chunk.used += 1;
    return ((chunk.index << CHUNK_BITS) | offset) >>> 0;
  }

  release(address: number): void {
    const chunk = this.chunkAt(address);
    const offset = offsetOf(address);
    chunk.numbers[offset] = chunk.released;
    chunk.released = offset;
    chunk.used -= 1;
    const sizeClass = this.#classes.get(chunk.cellSize)!;
    if (chunk.used === 0) {
      if (chunk === sizeClass.current) sizeClass.current = undefined;
      else sizeClass.open.delete(chunk);
      this.#retire(chunk);
    } else if (chunk !== sizeClass.current) {
      sizeClass.open.add(chunk);
    }
  }

  /** The chunk of the cell at this address. The cell begins at {@link offsetOf} of its numbers. */
  chunkAt(address: number): Chunk {
    return this.chunks[address >>> CHUNK_BITS]!;
  }

  /** Releases everything. */
  clear(): void {
    this.chunks.length = 0;
    this.#classes = new Map();
    this.#spare = [];
    this.#empty = [];
  }

  #nextChunk({ open }: SizeClass, cellSize: number): Chunk {
    for (const chunk of open) {
      open.delete(chunk);
      return chunk;
    }
    const length = cellSize * Math.max(1, Math.floor(CHUNK_SIZE / cellSize));
    const found = this.#spare.findIndex(({ numbers }) => numbers.length === length);
    const chunk = found < 0 ? this.#chunkOf(new Float64Array(length)) : this.#spare.splice(found, 1)[0]!;
    chunk.cellSize = cellSize;
    return chunk;
  }

  /** The array exists already, so a failure to allocate it loses no chunk. */
  #chunkOf(numbers: Float64Array): Chunk {
    const chunk = this.#empty.pop() ?? this.#addChunk();
    chunk.numbers = numbers;
    return chunk;
  }

  /** @throws RangeError when no address is left. Otherwise two keys would share their memory. */
  #addChunk(): Chunk {
    if (this.chunks.length >= MOST_CHUNKS) {
      const message = `Expected at most ${MOST_CHUNKS} chunks of memory in a MemoryStore. Set a lower \`maxKeys\``;
      throw withCode('ERR_ROLLGATE_INVALID_OPTION', new RangeError(message));
    }
    const chunk = { index: this.chunks.length, numbers: NO_NUMBERS, cellSize: 0, used: 0, end: 0, released: NONE };
    this.chunks.push(chunk);
    return chunk;
  }

  #retire(chunk: Chunk): void {
    chunk.end = 0;
    chunk.released = NONE;
    this.#spare.unshift(chunk);
    const isLarge = chunk.numbers.length > CHUNK_SIZE;
    if (!isLarge && this.#spare.length <= MOST_SPARE) return;
    const freed = (isLarge ? this.#spare.shift() : this.#spare.pop()) as Chunk;
    freed.numbers = NO_NUMBERS;
    this.#empty.push(freed);
  }
}

/** Where the cell at this address begins in its chunk. */
export function offsetOf(address: number): number {
  return address & OFFSET_MASK;
}

/**
 * Rounds up to one of 16 sizes between two powers of two. Each size keeps a chunk that may be almost empty, so there
 * must be few of them.
 */
export function roundUp(size: number): number {
  if (size <= 16) return size;
  const step = 1 << (27 - Math.clz32(size - 1)); // `2 **` returns a boxed number, which would make the sizes boxed, too.
  return Math.ceil(size / step) * step;
}

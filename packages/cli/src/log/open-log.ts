import { createReadStream } from 'node:fs';
import { access, constants, stat } from 'node:fs/promises';
import { pipeline, type Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { LogError, reasonOf } from '../errors.js';

/** Called with the number of bytes just read, before decompression. */
export type OnRead = (bytes: number) => void;

/** So large that the cost per chunk is negligible. */
const CHUNK_BYTES = 256 * 1024;

/** The file name that means standard input. */
export const STANDARD_INPUT = '-';

/** The name of a log in messages. */
export function nameOfLog(path: string): string {
  return path === STANDARD_INPUT ? 'standard input' : path;
}

/**
 * Checks all logs before the first one is read, which may take long.
 *
 * @throws LogError when one cannot be read.
 */
export async function checkReadable(paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    if (path === STANDARD_INPUT) continue;
    await access(path, constants.R_OK).catch((error) => {
      throw cannotRead(path, error);
    });
  }
}

/** The total size of these logs in bytes, or `undefined` if it is unknown. */
export async function sizeOfLogs(paths: readonly string[]): Promise<number | undefined> {
  let bytes = 0;
  for (const path of paths) {
    const found = path === STANDARD_INPUT ? undefined : await stat(path).catch(() => undefined);
    if (found === undefined || !found.isFile()) return undefined;
    bytes += found.size;
  }
  return bytes;
}

/**
 * Reads the bytes of a log and decompresses gzip data, whatever the file's name is.
 *
 * @throws LogError when it cannot be read, or its gzip data is broken.
 */
export async function* readBytes(path: string, onRead: OnRead): AsyncGenerator<Buffer> {
  const source = path === STANDARD_INPUT ? process.stdin : createReadStream(path, { highWaterMark: CHUNK_BYTES });
  try {
    const chunks = counted(source, onRead);
    const first = await firstBytes(chunks);
    const whole = startingWith(first, chunks);
    const isPacked = first[0] === 0x1f && first[1] === 0x8b;
    // An error of either stream surfaces in the last one.
    const unpacked = isPacked ? pipeline(whole, createGunzip({ chunkSize: CHUNK_BYTES }), () => {}) : whole;
    for await (const chunk of unpacked) yield chunk as Buffer;
  } catch (error) {
    throw cannotRead(path, error);
  } finally {
    source.destroy();
  }
}

async function* counted(source: Readable, onRead: OnRead): AsyncGenerator<Buffer> {
  for await (const chunk of source) {
    onRead((chunk as Buffer).length);
    yield chunk as Buffer;
  }
}

/** Reads the two bytes that identify gzip data, or fewer at the end of the log. */
async function firstBytes(chunks: AsyncGenerator<Buffer>): Promise<Buffer> {
  let bytes = Buffer.alloc(0);
  while (bytes.length < 2) {
    const { value, done } = await chunks.next();
    if (done) break;
    bytes = Buffer.concat([bytes, value]);
  }
  return bytes;
}

async function* startingWith(first: Buffer, rest: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  if (first.length > 0) yield first;
  yield* rest;
}

function cannotRead(path: string, error: unknown): LogError {
  return new LogError(`Cannot read ${nameOfLog(path)}: ${reasonOf(error)}`, { cause: error });
}

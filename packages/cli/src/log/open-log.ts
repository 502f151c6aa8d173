import { createReadStream } from 'node:fs';
import { access, constants, stat } from 'node:fs/promises';
import { pipeline, type Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { LogError, reasonOf } from '../errors.js';
import { type Encoding, encodingOf, fromUtf16, MAGIC_BYTES } from './encoding.js';
import { nameOfLog, STANDARD_INPUT } from './log-name.js';

/** Called with the number of bytes just read, before decompression. */
export type OnRead = (bytes: number) => void;

/** So large that the cost per chunk is negligible. */
const CHUNK_BYTES = 256 * 1024;

/**
 * Checks all logs before the first one is read, which may take long.
 *
 * @throws LogError when one cannot be read.
 */
export async function checkReadable(paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    if (path === STANDARD_INPUT) continue;
    await access(path, constants.R_OK).catch((error) => {
      throw toReadError(path, error);
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
 * Reads the bytes of a log in UTF-8. It decompresses gzip data and decodes UTF-16, whatever the file's name is.
 *
 * @throws LogError when it cannot be read, its gzip data is broken, or another program must decompress it.
 */
export async function* readBytes(path: string, onRead: OnRead): AsyncGenerator<Buffer> {
  const source = path === STANDARD_INPUT ? process.stdin : createReadStream(path, { highWaterMark: CHUNK_BYTES });
  try {
    const chunks = counted(source, onRead);
    const first = await firstBytes(chunks);
    for await (const chunk of decoded(path, encodingOf(first), startingWith(first, chunks))) yield chunk;
  } catch (error) {
    throw toReadError(path, error);
  } finally {
    source.destroy();
  }
}

function decoded(path: string, encoding: Encoding, whole: AsyncGenerator<Buffer>): AsyncIterable<Buffer> {
  if (encoding.kind === 'packed') {
    const file = path === STANDARD_INPUT ? '' : ` ${path}`;
    throw new Error(`it is ${encoding.name} data; pipe it in: \`${encoding.command}${file} | rollgate …\``);
  }
  if (encoding.kind === 'utf16') return fromUtf16(whole, encoding.label);
  // An error of either stream surfaces in the last one.
  return encoding.kind === 'gzip' ? pipeline(whole, createGunzip({ chunkSize: CHUNK_BYTES }), () => {}) : whole;
}

async function* counted(source: Readable, onRead: OnRead): AsyncGenerator<Buffer> {
  for await (const chunk of source) {
    onRead((chunk as Buffer).length);
    yield chunk as Buffer;
  }
}

/** Reads the bytes that identify the encoding, or fewer at the end of the log. */
async function firstBytes(chunks: AsyncGenerator<Buffer>): Promise<Buffer> {
  let bytes = Buffer.alloc(0);
  while (bytes.length < MAGIC_BYTES) {
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

function toReadError(path: string, error: unknown): LogError {
  return new LogError(`Cannot read ${nameOfLog(path)}: ${reasonOf(error)}`, { cause: error });
}

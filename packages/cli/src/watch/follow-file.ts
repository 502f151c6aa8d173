import { type FileHandle, open, stat } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';
import { LogError, reasonOf } from '../errors.js';

/** What happened to a followed file. */
export type FileEvent =
  | { readonly kind: 'bytes'; readonly bytes: Buffer }
  /** All bytes so far were read. */
  | { readonly kind: 'idle' }
  /** The next bytes are from the start of the file, because it was replaced or truncated. */
  | { readonly kind: 'restart'; readonly reason: 'replaced' | 'truncated' };

/** How often the file is checked for changes, in milliseconds. */
const POLL_MS = 200;
const CHUNK_BYTES = 256 * 1024;

/**
 * Reads a file and everything that is added to it, like `tail -F`. When another file gets its name, the rest of the old one
 * comes first. A missing file may appear again. A caller that stops reading closes the file.
 *
 * @throws LogError when the file cannot be read at first.
 */
export async function* followFile(path: string): AsyncGenerator<FileEvent> {
  let file = await open(path, 'r').catch((error) => {
    throw new LogError(`Cannot read ${path}: ${reasonOf(error)}`);
  });
  let position = 0;
  try {
    for (;;) {
      for await (const bytes of readFrom(file, position)) {
        position += bytes.length;
        yield { kind: 'bytes', bytes };
      }
      yield { kind: 'idle' };
      await wait(POLL_MS);
      if ((await file.stat()).size < position) {
        position = 0;
        yield { kind: 'restart', reason: 'truncated' };
      }
      const next = await openReplacement(path, file);
      if (next === undefined) continue;
      for await (const bytes of readFrom(file, position)) yield { kind: 'bytes', bytes };
      await file.close();
      file = next;
      position = 0;
      yield { kind: 'restart', reason: 'replaced' };
    }
  } finally {
    await file.close();
  }
}

async function* readFrom(file: FileHandle, start: number): AsyncGenerator<Buffer> {
  for (let position = start; ; ) {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(CHUNK_BYTES), 0, CHUNK_BYTES, position);
    if (bytesRead === 0) return;
    position += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}

/** Opens the file that now has the name, or returns `undefined` if it is the same one or there is none. */
async function openReplacement(path: string, file: FileHandle): Promise<FileHandle | undefined> {
  const [named, opened] = await Promise.all([stat(path).catch(() => undefined), file.stat()]);
  if (named === undefined || (named.ino === opened.ino && named.dev === opened.dev)) return undefined;
  return open(path, 'r').catch(() => undefined);
}

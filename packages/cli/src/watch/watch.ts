import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { checkNotTerminal } from '../check-paths.js';
import { LogError, reasonOf } from '../errors.js';
import { encodingOf } from '../log/encoding.js';
import type { Entry } from '../log/entry.js';
import { FileReader, type ReadOptions, ReadState } from '../log/file-reader.js';
import { nameOfLog, STANDARD_INPUT } from '../log/log-name.js';
import { type FileEvent, followFile } from './follow-file.js';

/** What to do while a log grows. */
export interface WatchHandlers {
  add(entry: Entry): void;
  /** Called when all lines so far were read. */
  onIdle(state: ReadState): void;
  onRestart(reason: string): void;
}

/**
 * Follows a log. Requests count in the order of the log, as they would arrive at a limiter. One that is earlier than the
 * latest one counts at the time of the latest one.
 *
 * @throws LogError when the log cannot be read, is compressed, or ends without a request.
 * @throws UsageError when it would be read from a terminal.
 */
export async function watch(path: string, options: ReadOptions, handlers: WatchHandlers): Promise<void> {
  checkNotTerminal([path]);
  const file = nameOfLog(path);
  const state = new ReadState(options);
  let newestMicros = Number.NEGATIVE_INFINITY;
  const createReader = () =>
    new FileReader(file, state, (entry) => {
      newestMicros = Math.max(newestMicros, entry.micros);
      handlers.add(entry.micros === newestMicros ? entry : { ...entry, micros: newestMicros });
    });
  let reader = createReader();
  let isStart = true;
  for await (const event of await follow(path)) {
    if (event.kind === 'bytes') {
      if (isStart && encodingOf(event.bytes.subarray(0, 6)).kind !== 'plain') {
        throw new LogError(`Cannot watch ${file}: it is compressed or not in UTF-8`);
      }
      isStart = false;
      reader.push(event.bytes);
    } else if (event.kind === 'restart') {
      reader.end();
      reader = createReader();
      isStart = true;
      handlers.onRestart(`${file} was ${event.reason}. Watching continues at its start`);
    } else {
      reader.flush();
      handlers.onIdle(state);
    }
  }
  reader.end();
  if (state.summary.requests === 0) throw new LogError(state.summary.explainEmpty([path]));
  handlers.onIdle(state);
}

async function follow(path: string): Promise<AsyncGenerator<FileEvent>> {
  if (path === STANDARD_INPUT) return followStream(path, process.stdin);
  const found = await stat(path).catch(() => undefined);
  // A pipe has no positions to read at, and it ends.
  return found === undefined || found.isFile() ? followFile(path) : followStream(path, createReadStream(path));
}

async function* followStream(path: string, source: Readable): AsyncGenerator<FileEvent> {
  try {
    for await (const bytes of source) {
      yield { kind: 'bytes', bytes: bytes as Buffer };
      yield { kind: 'idle' };
    }
  } catch (error) {
    throw new LogError(`Cannot read ${nameOfLog(path)}: ${reasonOf(error)}`, { cause: error });
  }
}

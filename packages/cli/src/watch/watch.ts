import { LogError } from '../errors.js';
import { encodingOf } from '../log/encoding.js';
import type { Entry } from '../log/entry.js';
import { FileReader, type ReadOptions, ReadState } from '../log/entry-reader.js';
import type { LogSummary } from '../log/log-summary.js';
import { nameOfLog, STANDARD_INPUT } from '../log/open-log.js';
import { type FileEvent, followFile } from './follow-file.js';

/** What to do while a log grows. */
export interface WatchHandlers {
  add(entry: Entry): void;
  /** Called when all lines so far were read. */
  onIdle(summary: LogSummary): void;
  onRestart(reason: string): void;
}

/**
 * Follows a log. Requests count in the order of the log, as they would arrive at a limiter. One that is earlier than the
 * latest one counts at the time of the latest one.
 *
 * @throws LogError when the log cannot be read or is compressed.
 */
export async function watch(path: string, options: ReadOptions, handlers: WatchHandlers): Promise<void> {
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
  for await (const event of path === STANDARD_INPUT ? followInput() : followFile(path)) {
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
      handlers.onIdle(state.summary);
    }
  }
  reader.end();
  handlers.onIdle(state.summary);
}

async function* followInput(): AsyncGenerator<FileEvent> {
  for await (const bytes of process.stdin) {
    yield { kind: 'bytes', bytes: bytes as Buffer };
    yield { kind: 'idle' };
  }
}

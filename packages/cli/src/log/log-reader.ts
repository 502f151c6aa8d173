import { LogError } from '../errors.js';
import type { Callers, Entry } from './entry.js';
import { FileReader, type ReadOptions, ReadState } from './file-reader.js';
import { nameOfLog } from './log-name.js';
import type { LogSummary } from './log-summary.js';
import { mergeLogs } from './merge-logs.js';
import { type OnRead, readBytes } from './open-log.js';
import { TimeOrder } from './time-order.js';

/** Which logs to read, and how. */
export interface LogOptions extends ReadOptions {
  readonly paths: readonly string[];
  readonly toleranceMs: number;
  readonly onRead: OnRead;
}

/**
 * Reads logs as entries in the order of their times.
 *
 * @throws LogError when a log cannot be read, or none contains a request.
 */
export class LogReader {
  readonly #options: LogOptions;
  readonly #state: ReadState;

  constructor(options: LogOptions) {
    this.#options = options;
    this.#state = new ReadState(options);
  }

  /** The callers found so far. */
  get callers(): Callers {
    return this.#state.callers;
  }

  /** Counts the lines read so far. */
  get summary(): LogSummary {
    return this.#state.summary;
  }

  /** Returns each entry once, in batches. */
  async *entries(): AsyncGenerator<Entry[]> {
    const { paths } = this.#options;
    yield* mergeLogs(paths.map((path) => this.#entriesOf(path)));
    const { summary } = this.#state;
    if (summary.requests === 0) throw new LogError(summary.explainEmpty(paths));
  }

  async *#entriesOf(path: string): AsyncGenerator<Entry[]> {
    const { toleranceMs, onRead } = this.#options;
    const file = nameOfLog(path);
    const order = new TimeOrder(toleranceMs * 1000, (entry) => this.#state.summary.countLeftOut(file, entry));
    const reader = new FileReader(file, this.#state, (entry) => order.push(entry));
    for await (const chunk of readBytes(path, onRead)) {
      reader.push(chunk);
      yield order.take();
    }
    reader.end();
    yield order.end();
  }
}

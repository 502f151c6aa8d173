import { encodingOf, MAGIC_BYTES } from '../../../cli/src/log/encoding.js';
import type { analyzeLog, LogFindings } from '../../../cli/src/page-log.js';
import { worstBurst } from '../race.js';

/** The window of a suggested limit. The chart shows no longer one. */
export const LOG_WINDOW_MS = 60_000;

/** What identifies a client in a log. */
export type CallerKind = Parameters<typeof analyzeLog>[2];

/** The part that reads logs has more code than the rest of the page, which loads it when it gets one. */
export async function analyze(chunks: AsyncIterable<Uint8Array>, by: CallerKind): Promise<LogFindings> {
  const reader: { analyzeLog: typeof analyzeLog } = await import(new URL('log.js', document.baseURI).href);
  return reader.analyzeLog(chunks, LOG_WINDOW_MS, by);
}

/** Returns the worst window and the one before it, from 0. The chart shows both. */
export function worstTimes(timesMs: readonly number[], windowMs: number): number[] {
  const { toMs } = worstBurst(timesMs, windowMs);
  const shown = timesMs.filter((atMs) => atMs > toMs - 2 * windowMs && atMs <= toMs);
  return shown.map((atMs) => atMs - shown[0]!);
}

/** Passes each log that a visitor pastes, chooses or drops to `suggest`, and shows the facts that it returns. */
export function listenForLogs(
  suggest: (chunks: AsyncIterable<Uint8Array>, by: CallerKind) => Promise<readonly string[]>,
): void {
  const find = <Found extends HTMLElement>(id: string) => document.getElementById(id) as Found;
  const facts = find<HTMLPreElement>('log-facts');
  let log: Blob = new Blob();
  const run = async () => {
    if (log.size === 0) return;
    facts.textContent = 'Reading …';
    try {
      const by = find<HTMLSelectElement>('log-by').value as CallerKind;
      facts.textContent = (await suggest(chunksOf(log), by)).join('\n');
    } catch (error) {
      facts.textContent = (error as Error).message;
    }
  };
  const read = (next: Blob) => {
    log = next;
    return run();
  };
  const area = find<HTMLTextAreaElement>('log-text');
  area.addEventListener('paste', (event) => {
    event.preventDefault(); // A browser lays out a long text for seconds.
    const text = event.clipboardData?.getData('text') ?? '';
    area.value = text.slice(0, SHOWN);
    void read(new Blob([text]));
  });
  area.addEventListener('change', () => void read(new Blob([area.value])));
  find<HTMLInputElement>('log-file').addEventListener('change', ({ target }) => {
    const [file] = (target as HTMLInputElement).files ?? [];
    if (file !== undefined) void read(file);
  });
  find('log-by').addEventListener('change', () => void run());
}

/** The characters of a pasted log that stay visible. */
const SHOWN = 2000;

/** The page keeps the time and the client of each request, but never the whole text of a log. */
async function* chunksOf(log: Blob): AsyncGenerator<Uint8Array> {
  const reader = (await utf8Of(log)).getReader();
  for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) yield chunk.value;
}

/** The bytes of a log in UTF-8, without a compression that the browser knows. */
async function utf8Of(log: Blob): Promise<ReadableStream<Uint8Array<ArrayBuffer>>> {
  const encoding = encodingOf(new Uint8Array(await log.slice(0, MAGIC_BYTES).arrayBuffer()));
  if (encoding.kind === 'packed') throw new Error(`The log is ${encoding.name} data. Unpack it: ${encoding.command}`);
  if (encoding.kind === 'utf16')
    return log.stream().pipeThrough(new TextDecoderStream(encoding.label)).pipeThrough(new TextEncoderStream());
  return encoding.kind === 'gzip' ? log.stream().pipeThrough(new DecompressionStream('gzip')) : log.stream();
}

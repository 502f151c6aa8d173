import { Presets, SingleBar } from 'cli-progress';

/** Tells people how far a log was read. */
export interface Progress {
  /** So many bytes more. */
  add(bytes: number): void;
  /** Takes it away. */
  stop(): void;
}

const MEGABYTE = 1024 * 1024;

/**
 * A bar on standard error, if that is a terminal; otherwise nothing.
 *
 * @param totalBytes `undefined` when nobody can know: then only what was read is told.
 */
export function startProgress(totalBytes: number | undefined): Progress {
  if (!process.stderr.isTTY) return { add() {}, stop() {} };
  const format = totalBytes === undefined ? '{value} MB' : '{bar} {percentage} % of {total} MB, {eta_formatted} to go';
  const bar = new SingleBar(
    // Nothing is changed in the terminal that an interruption would leave so.
    { format, stream: process.stderr, clearOnComplete: true, hideCursor: null, linewrap: true, gracefulExit: false },
    Presets.shades_classic,
  );
  let bytes = 0;
  bar.start(Math.ceil((totalBytes ?? 0) / MEGABYTE), 0);
  return {
    add(more) {
      bytes += more;
      bar.update(Math.floor(bytes / MEGABYTE));
    },
    stop: () => bar.stop(),
  };
}

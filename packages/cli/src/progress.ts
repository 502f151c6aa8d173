import { Presets, SingleBar } from 'cli-progress';

/** Shows how much of the logs has been read. */
export interface Progress {
  /** Adds bytes that have been read. */
  add(bytes: number): void;
  /** Removes the display. */
  stop(): void;
}

const MEGABYTE = 1024 * 1024;

/**
 * Shows a bar on standard error if that is a terminal, otherwise nothing.
 *
 * @param totalBytes `undefined` if the size is unknown. Then only the bytes read so far appear.
 */
export function startProgress(totalBytes: number | undefined): Progress {
  if (!process.stderr.isTTY) return { add() {}, stop() {} };
  const format = totalBytes === undefined ? '{value} MB' : '{bar} {percentage} % of {total} MB, {eta_formatted} to go';
  const bar = new SingleBar(
    // These settings change nothing in the terminal that an interruption would leave changed.
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

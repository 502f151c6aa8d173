import { Presets, SingleBar } from 'cli-progress';
import { createCallerWarnings } from './caller-warnings.js';
import { checkNotTerminal, checkPaths } from './check-paths.js';
import type { ForwardedCounts } from './log/client.js';
import type { Entry } from './log/entry.js';
import { nameOfLog, STANDARD_INPUT } from './log/log-name.js';
import { type LogOptions, LogReader } from './log/log-reader.js';
import type { FormatOfLog, LogSummary } from './log/log-summary.js';
import { checkReadable, sizeOfLogs } from './log/open-log.js';
import { checkWritable, print, writePage } from './output.js';
import { escapeInvisible, escapeInvisibleJson } from './report/escape-invisible.js';
import { toHtml } from './report/html-report.js';
import { toLogJson } from './report/json-report.js';
import type { Origin, Report } from './report/report.js';
import { detectTerminal } from './report/terminal.js';
import { toText } from './report/text-report.js';
import { toCommandLine, VERSION } from './version.js';
import { createLineWarnings, createResolutionNotes, type Warning } from './warnings.js';

/** The validated settings that all commands share. */
export interface Settings extends Omit<LogOptions, 'onRead'> {
  /** Counted while the logs are read. */
  readonly forwarded: Readonly<ForwardedCounts>;
  readonly html: string | undefined;
  readonly json: boolean;
}

/** The results of a command, as a report and as JSON. */
export interface Findings {
  readonly report: Report;
  readonly json: object;
  /** Milliseconds. */
  readonly windowsMs: readonly number[];
}

/**
 * Reads the logs, passes each entry to `add`, and prints the results of `createFindings`.
 *
 * @throws LogError when the logs contain no request.
 * @throws UsageError when the page cannot be written or a log is named twice.
 * @throws OutputError when the output cannot be written.
 */
export async function analyzeLogs(
  command: string,
  settings: Settings,
  add: (entry: Entry) => void,
  createFindings: () => Findings,
) {
  const { html, toleranceMs } = settings;
  const { keySource } = settings.selectors;
  const paths = settings.paths.length === 0 ? [STANDARD_INPUT] : settings.paths;
  await checkPaths(paths, html);
  if (html !== undefined) await checkWritable(html);
  const reader = await readAll(paths, settings, add);
  const { summary } = reader;
  const findings = createFindings();
  const warnings = [
    ...createLineWarnings(summary, toleranceMs),
    ...createCallerWarnings({ ...settings, keySource }, reader.callers),
  ];
  for (const { text } of warnings) process.stderr.write(`${escapeInvisible(text)}\n`);
  const report = toReport(findings, summary, warnings);
  if (html !== undefined) {
    const page = { ...report, notes: [...report.notes, ...textsOf(warnings, false)] };
    await writePage(html, toHtml(page, originOf(paths)));
  }
  print(
    settings.json
      ? escapeInvisibleJson(
          `${JSON.stringify({ command, ...toLogJson(summary, keySource, warnings), ...findings.json }, undefined, 2)}\n`,
        )
      : toText(report, detectTerminal()),
  );
}

/** Adds what the log itself shows: its formats, its severe warnings and its resolution. */
function toReport({ report, windowsMs }: Findings, summary: LogSummary, warnings: readonly Warning[]): Report {
  const severeTexts = textsOf(warnings, true).map((text) => `Warning: ${text}`);
  return {
    ...report,
    facts: [...report.facts, ...describeFormats(summary.formats), ...severeTexts],
    notes: [...report.notes, ...createResolutionNotes(summary, windowsMs)],
  };
}

function originOf(paths: readonly string[]): Origin {
  return {
    command: toCommandLine(process.argv.slice(2)),
    logs: paths.map(nameOfLog),
    version: VERSION,
    date: new Date(),
  };
}

function textsOf(warnings: readonly Warning[], isSevere: boolean): string[] {
  return warnings.filter((warning) => warning.isSevere === isSevere).map(({ text }) => text);
}

async function readAll(paths: readonly string[], settings: Settings, add: (entry: Entry) => void): Promise<LogReader> {
  checkNotTerminal(paths);
  await checkReadable(paths);
  const progress = startProgress(await sizeOfLogs(paths));
  try {
    const reader = new LogReader({ ...settings, paths, onRead: (bytes) => progress.add(bytes) });
    for await (const batch of reader.entries()) for (const entry of batch) add(entry);
    return reader;
  } finally {
    progress.stop();
  }
}

/** Describes how each log was read, unless it is plain. */
function describeFormats(formats: readonly FormatOfLog[]): string[] {
  return formats
    .filter(({ wrappers, note }) => wrappers.length > 0 || note !== undefined)
    .map(({ file, format, wrappers, note }) => {
      const inside = wrappers.length === 0 ? '' : `, in lines of ${wrappers.join(', ')}`;
      return `Format of ${file}: ${format}${inside}${note === undefined ? '' : `; ${note}`}`;
    });
}

/** Shows how much of the logs has been read. */
interface Progress {
  add(bytes: number): void;
  stop(): void;
}

const MEGABYTE = 1024 * 1024;

/**
 * Shows a bar on standard error if that is a terminal, otherwise nothing.
 *
 * @param totalBytes `undefined` if the size is unknown. Then only the bytes read so far appear.
 */
function startProgress(totalBytes: number | undefined): Progress {
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

import { callerWarnings } from './caller-warnings.js';
import { checkInputs, checkTerminal } from './check-distinct-files.js';
import type { Entry } from './log/entry.js';
import type { LogFormat } from './log/formats/format.js';
import type { ForwardedCounts } from './log/forwarded.js';
import { checkReadable, nameOfLog, STANDARD_INPUT, sizeOfLogs } from './log/open-log.js';
import { LogReader } from './log/read-log.js';
import type { Wanted } from './log/request.js';
import { checkWritable, print, writePage } from './output.js';
import { startProgress } from './progress.js';
import { escapeInvisible, escapeInvisibleJson } from './report/escape-invisible.js';
import { formatFacts } from './report/format-facts.js';
import { toHtml } from './report/html-report.js';
import { logJson } from './report/json-report.js';
import type { Origin, Report } from './report/report.js';
import { detectTerminal } from './report/terminal.js';
import { toText } from './report/text-report.js';
import { commandLine, VERSION } from './version.js';
import { resolutionNotes, type Warning, warningsOf } from './warnings.js';

/** The validated settings that all commands share. */
export interface Settings {
  readonly paths: readonly string[];
  readonly wanted: Wanted;
  /** Counted while the logs are read. */
  readonly forwarded: Readonly<ForwardedCounts>;
  readonly format: LogFormat | undefined;
  readonly toleranceMs: number;
  readonly ipv6Prefix: number;
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
 * Reads the logs, passes each entry to `add`, and prints the results of `find`.
 *
 * @throws LogError when the logs contain no request.
 * @throws UsageError when the page cannot be written or a log is named twice.
 * @throws OutputError when the output cannot be written.
 */
export async function run(command: string, settings: Settings, add: (entry: Entry) => void, find: () => Findings) {
  const { html, toleranceMs } = settings;
  const { by } = settings.wanted;
  const paths = settings.paths.length === 0 ? [STANDARD_INPUT] : settings.paths;
  await checkInputs(paths, html);
  if (html !== undefined) await checkWritable(html);
  const reader = await readAll(paths, settings, add);
  const { summary } = reader;
  const { report: found, json, windowsMs } = find();
  const warnings = [...warningsOf(summary, toleranceMs), ...callerWarnings({ ...settings, by }, reader.callers)];
  for (const { text } of warnings) process.stderr.write(`${escapeInvisible(text)}\n`);
  const report: Report = {
    ...found,
    facts: [
      ...found.facts,
      ...formatFacts(summary.formats),
      ...textsOf(warnings, true).map((text) => `Warning: ${text}`),
    ],
    notes: [...found.notes, ...resolutionNotes(summary, windowsMs)],
  };
  if (html !== undefined) {
    const page = { ...report, notes: [...report.notes, ...textsOf(warnings, false)] };
    await writePage(html, toHtml(page, originOf(paths)));
  }
  print(
    settings.json
      ? escapeInvisibleJson(
          `${JSON.stringify({ command, ...logJson(summary, by, warnings), ...json }, undefined, 2)}\n`,
        )
      : toText(report, detectTerminal()),
  );
}

function originOf(paths: readonly string[]): Origin {
  return {
    command: commandLine(process.argv.slice(2)),
    logs: paths.map(nameOfLog),
    version: VERSION,
    date: new Date(),
  };
}

function textsOf(warnings: readonly Warning[], isSevere: boolean): string[] {
  return warnings.filter((warning) => warning.isSevere === isSevere).map(({ text }) => text);
}

async function readAll(paths: readonly string[], settings: Settings, add: (entry: Entry) => void): Promise<LogReader> {
  const { wanted, format, toleranceMs, ipv6Prefix } = settings;
  checkTerminal(paths);
  await checkReadable(paths);
  const progress = startProgress(await sizeOfLogs(paths));
  try {
    const reader = new LogReader({
      ...{ paths, format, wanted, toleranceMs, ipv6Prefix },
      onRead: (bytes) => progress.add(bytes),
    });
    for await (const batch of reader.entries()) for (const entry of batch) add(entry);
    return reader;
  } finally {
    progress.stop();
  }
}

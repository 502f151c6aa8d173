import { UsageError } from './errors.js';
import { checkInputs } from './inputs.js';
import type { Entry } from './log/entry.js';
import type { Account } from './log/log-account.js';
import { checkReadable, STANDARD_INPUT, sizeOfLogs } from './log/open-log.js';
import { type Format, LogReader } from './log/read-log.js';
import type { By } from './log/request.js';
import { checkWritable, print, writePage } from './output.js';
import { startProgress } from './progress.js';
import { toHtml } from './report/html-report.js';
import { accountJson } from './report/json-report.js';
import type { Report } from './report/report.js';
import { toText } from './report/text-report.js';
import { visible, visibleJson } from './report/visible.js';
import { resolutionNotes, type Warning, warningsOf } from './warnings.js';

/** What all commands take, as it was checked. */
export interface Settings {
  readonly paths: readonly string[];
  readonly by: By;
  readonly cost: string | undefined;
  readonly timeField: string | undefined;
  readonly format: Format | undefined;
  readonly toleranceMs: number;
  readonly ipv6Prefix: number;
  readonly html: string | undefined;
  readonly json: boolean;
}

/** What a command found, for people and for machines. */
export interface Findings {
  readonly report: Report;
  readonly json: object;
  /** Milliseconds. */
  readonly windowsMs: readonly number[];
}

/**
 * Reads the logs, hands each entry to `add`, and tells what `find` makes of it.
 *
 * @throws LogError when there is nothing to tell of; UsageError when a page cannot be written, or a log is named twice;
 * OutputError when what was found cannot be written.
 */
export async function run(command: string, settings: Settings, add: (entry: Entry) => void, find: () => Findings) {
  const { by, html, toleranceMs } = settings;
  const paths = settings.paths.length === 0 ? [STANDARD_INPUT] : settings.paths;
  await checkInputs(paths, html);
  if (html !== undefined) await checkWritable(html);
  const account = await readAll(paths, settings, add);
  const { report: found, json, windowsMs } = find();
  const warnings = warningsOf(account, toleranceMs);
  for (const { text } of warnings) process.stderr.write(`${visible(text)}\n`);
  const report: Report = {
    ...found,
    facts: [...found.facts, ...textsOf(warnings, true).map((text) => `Careful: ${text}`)],
    notes: [...found.notes, ...resolutionNotes(account, windowsMs)],
  };
  if (html !== undefined) {
    await writePage(html, toHtml({ ...report, notes: [...report.notes, ...textsOf(warnings, false)] }));
  }
  print(
    settings.json
      ? visibleJson(`${JSON.stringify({ command, ...accountJson(account, by), ...json }, undefined, 2)}\n`)
      : toText(report),
  );
}

function textsOf(warnings: readonly Warning[], isGrave: boolean): string[] {
  return warnings.filter((warning) => warning.isGrave === isGrave).map(({ text }) => text);
}

async function readAll(paths: readonly string[], settings: Settings, add: (entry: Entry) => void): Promise<Account> {
  const { by, cost, timeField, format, toleranceMs, ipv6Prefix } = settings;
  if (paths.includes(STANDARD_INPUT) && process.stdin.isTTY) {
    throw new UsageError('No log to read: name a file, or pipe one in');
  }
  await checkReadable(paths);
  const progress = startProgress(await sizeOfLogs(paths));
  try {
    const fields = { by, cost, time: timeField };
    const reader = new LogReader({
      ...{ paths, format, fields, toleranceMs, ipv6Prefix },
      onRead: (bytes) => progress.add(bytes),
    });
    for await (const batch of reader.entries()) for (const entry of batch) add(entry);
    return reader.account;
  } finally {
    progress.stop();
  }
}

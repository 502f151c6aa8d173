import { access, constants, stat, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { reasonOf, UsageError } from './errors.js';
import type { Entry } from './log/entry.js';
import { type Account, describeUnparsed } from './log/log-account.js';
import { checkReadable, STANDARD_INPUT, sizeOfLogs } from './log/open-log.js';
import { type Format, LogReader } from './log/read-log.js';
import type { By } from './log/request.js';
import { startProgress } from './progress.js';
import { toHtml } from './report/html-report.js';
import { accountJson } from './report/json-report.js';
import type { Report } from './report/report.js';
import { toText } from './report/text-report.js';
import { duration, plain, time, whole } from './report/words.js';

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
}

/**
 * Reads the logs, hands each entry to `add`, and tells what `find` makes of it.
 *
 * @throws LogError when there is nothing to tell of; UsageError when the page cannot be written.
 */
export async function run(command: string, settings: Settings, add: (entry: Entry) => void, find: () => Findings) {
  const { by, html } = settings;
  if (html !== undefined) await checkWritable(html);
  const account = await readAll(settings, add);
  const { report, json } = find();
  const warnings = warningsOf(account, settings);
  for (const warning of warnings) process.stderr.write(`${warning}\n`);
  if (html !== undefined) await writePage(html, toHtml({ ...report, notes: [...report.notes, ...warnings] }));
  process.stdout.write(
    settings.json
      ? `${JSON.stringify({ command, ...accountJson(account, by), ...json }, undefined, 2)}\n`
      : toText(report),
  );
}

async function readAll(settings: Settings, add: (entry: Entry) => void): Promise<Account> {
  const { by, cost, timeField, format, toleranceMs, ipv6Prefix } = settings;
  const paths = settings.paths.length === 0 ? [STANDARD_INPUT] : settings.paths;
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

/** What a user should know of lines that do not count. */
function warningsOf(account: Account, { toleranceMs }: Settings): string[] {
  const { lines, unparsedLines, firstUnparsed, withoutKeyLines, leftOutLines, firstLeftOut } = account;
  const warnings: string[] = [];
  if (firstUnparsed !== undefined) {
    const first = plain(describeUnparsed(firstUnparsed), 240);
    warnings.push(`${whole(unparsedLines)} of ${whole(lines)} lines could not be parsed; the first, ${first}`);
  }
  if (withoutKeyLines > 0) {
    warnings.push(
      `${whole(withoutKeyLines)} of ${whole(lines)} requests do not say whom they count for, and were left out`,
    );
  }
  if (firstLeftOut !== undefined) {
    const { file, line, micros } = firstLeftOut;
    const first = `line ${line} of ${file}, ${time(micros)}`;
    const beyond = `more than ${toleranceMs === 0 ? '0s' : duration(toleranceMs)}`;
    warnings.push(
      `${whole(leftOutLines)} lines were ${beyond} out of order, and left out; the first, ${first}; see --tolerance`,
    );
  }
  return warnings;
}

/** Known before the log is read, which may take long. */
async function checkWritable(path: string): Promise<void> {
  try {
    const found = await stat(path).catch(() => undefined);
    if (found?.isDirectory()) throw Object.assign(new Error(), { code: 'EISDIR' });
    await access(found === undefined ? dirname(path) : path, constants.W_OK);
  } catch (error) {
    throw cannotWrite(path, error);
  }
}

async function writePage(path: string, page: string): Promise<void> {
  await writeFile(path, page).catch((error) => {
    throw cannotWrite(path, error);
  });
}

function cannotWrite(path: string, error: unknown): UsageError {
  return new UsageError(`Cannot write \`--html\` ${JSON.stringify(path)}: ${reasonOf(error)}`);
}

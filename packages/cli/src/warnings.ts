import { type Account, describeUnparsed } from './log/log-account.js';
import { nameOfLog, STANDARD_INPUT } from './log/open-log.js';
import { counted, duration, percent, plain, time, whole } from './report/words.js';

/** Lines that do not count, in words. */
export interface Warning {
  readonly text: string;
  /** So many lines that the numbers are of another log than the user thinks. */
  readonly isGrave: boolean;
}

/** Of all lines. */
const GRAVE_SHARE = 0.01;

/** What a user should know of lines that do not count. */
export function warningsOf(account: Account, toleranceMs: number): Warning[] {
  const { lines, unparsedLines, firstUnparsed, withoutKeyLines, leftOutLines, firstLeftOut } = account;
  const warnings: Warning[] = [];
  const warn = (count: number, why: string) => {
    const isGrave = count / lines > GRAVE_SHARE;
    const share = isGrave ? ` (${percent(count, lines)})` : '';
    warnings.push({ text: `${whole(count)} of ${counted(lines, 'line')}${share} ${why}`, isGrave });
  };
  if (firstUnparsed !== undefined) {
    warn(unparsedLines, `could not be parsed; the first, ${plain(describeUnparsed(firstUnparsed), 240)}`);
  }
  if (withoutKeyLines > 0) warn(withoutKeyLines, 'had to be left out for naming no caller; see --by');
  if (firstLeftOut !== undefined) {
    const { file, line, micros } = firstLeftOut;
    const beyond = `more than ${toleranceMs === 0 ? '0s' : duration(toleranceMs)} out of order`;
    const first = `the first, line ${line} of ${file}, ${time(micros)}`;
    const files = file === nameOfLog(STANDARD_INPUT) ? 'name parts of a log as files, or ' : '';
    warn(leftOutLines, `had to be left out, ${beyond}; ${first}; ${files}see --tolerance`);
  }
  return warnings;
}

/** Windows in which what the log does not say of its times matters, being so many steps long at most. */
const FEW_STEPS = 10;

/** Where the log's times are too coarse for a window. */
export function resolutionNotes({ resolutionMicros }: Account, windowsMs: readonly number[]): string[] {
  const resolutionMs = resolutionMicros / 1000;
  const short = [...new Set(windowsMs)].filter((windowMs) => windowMs < FEW_STEPS * resolutionMs).map(duration);
  if (short.length === 0) return [];
  const step = resolutionMs >= 1 ? duration(resolutionMs) : `${resolutionMs}ms`;
  return [
    `The log's times are in steps of ${step}, which is coarse for a window of ${short.join(' or ')}: ` +
      'a burst across two steps looks smaller than it is, and more would be refused than is told here.',
  ];
}

import { formatDuration } from './format-duration.js';
import { nameOfLog, STANDARD_INPUT } from './log/log-name.js';
import { describeUnparsed, HOW_TO_NAME, type LogSummary } from './log/log-summary.js';
import { toPlainText } from './report/escape-invisible.js';
import { formatTime } from './report/format.js';
import { formatCount, formatInteger, formatPercent } from './report/format-number.js';

/** A message about lines that do not count, or about unlikely callers. */
export interface Warning {
  readonly text: string;
  /** Whether the lines are so many that the report itself must mention them. */
  readonly isSevere: boolean;
}

/** The share of all lines above which a warning is severe. */
export const SEVERE_SHARE = 0.01;

/** A message about lines that do not count. */
export interface LineWarning extends Warning {
  readonly reason: 'unparsed' | 'withoutKey' | 'leftOut';
}

/** Returns warnings about lines that do not count. */
export function createLineWarnings(summary: LogSummary, toleranceMs: number): LineWarning[] {
  const { lines, unparsedLines, firstUnparsed, withoutKeyLines, leftOutLines, firstLeftOut } = summary;
  const warnings: LineWarning[] = [];
  const warn = (reason: LineWarning['reason'], count: number, why: string) => {
    const isSevere = count / lines > SEVERE_SHARE;
    const share = isSevere ? ` (${formatPercent(count, lines)})` : '';
    warnings.push({
      reason,
      text: `${formatInteger(count)} of ${formatCount(lines, 'line')}${share} ${why}`,
      isSevere,
    });
  };
  if (firstUnparsed !== undefined) {
    warn(
      'unparsed',
      unparsedLines,
      `could not be parsed; the first, ${toPlainText(describeUnparsed(firstUnparsed), 240)}`,
    );
  }
  if (withoutKeyLines > 0)
    warn('withoutKey', withoutKeyLines, `were left out because they name no caller; ${HOW_TO_NAME}`);
  if (firstLeftOut !== undefined) {
    const { file, line, micros } = firstLeftOut;
    const beyond = `more than ${toleranceMs === 0 ? '0s' : formatDuration(toleranceMs)} out of order`;
    const first = `the first, line ${line} of ${file}, ${formatTime(micros)}`;
    const files = file === nameOfLog(STANDARD_INPUT) ? 'pass the parts of a log as files, or ' : '';
    warn('leftOut', leftOutLines, `were left out because they are ${beyond}; ${first}; ${files}see --tolerance`);
  }
  return warnings;
}

/** A window with fewer steps of the log's times is imprecise. */
const MIN_STEPS = 10;

/** Returns a note if the log's times are too coarse for a window. */
export function createResolutionNotes({ resolutionMicros }: LogSummary, windowsMs: readonly number[]): string[] {
  const resolutionMs = resolutionMicros / 1000;
  const short = [...new Set(windowsMs)].filter((windowMs) => windowMs < MIN_STEPS * resolutionMs).map(formatDuration);
  if (short.length === 0) return [];
  const step = resolutionMs >= 1 ? formatDuration(resolutionMs) : `${resolutionMs}ms`;
  return [
    `The log's times have steps of ${step}, which is coarse for a window of ${short.join(' or ')}. ` +
      'A burst across two steps looks smaller than it is, so the limit would reject more than this report shows.',
  ];
}

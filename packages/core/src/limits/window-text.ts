import { getOrCache } from '../util/get-or-insert.js';
import { clarifyUnit, readDuration } from '../validation/duration.js';
import { invalidOption } from '../validation/validate.js';
import { type RollingWindow, rollingWindow } from './rolling-window.js';

/** What text with the name of a period should be. */
const PERIOD_TEXT = "units per window such as '1000/1d', or `calendarWindow` for periods of a calendar";

/** What text in place of a limit should be. */
const WINDOW_TEXT = "units per window such as '100/1m', '5/1s' or '1000/1d'";

const TEXT = /^(\d{1,16})\/(\d.*| *[a-z]+)$/i;

/** What may mean the periods of a calendar, as on the command line. */
const PERIOD = /\/ *(hour|day|week|month|year)$/;

/** A limit of units in a window. */
export interface ParsedWindow {
  /** In units. */
  readonly limit: number;
  /** In milliseconds. */
  readonly windowMs: number;
}

/**
 * Parses text such as `100/1m` or `100/m`: units per window, the notation of `limits` and of the command line. `undefined` for other
 * text, and for names of periods such as `1000/day`.
 */
export function parseWindowText(text: string): ParsedWindow | undefined {
  const [, units, window = ''] = TEXT.exec(text) ?? [];
  const limit = Number(units);
  if (!Number.isSafeInteger(limit) || PERIOD.test(text)) return undefined;
  const windowMs = readDuration(/^\d/.test(window) ? window : `1${window}`);
  return windowMs === undefined ? undefined : { limit, windowMs };
}

const windows = new Map<string, RollingWindow>();

/**
 * Returns the rolling window that text such as `100/1m` describes. Equal texts have the same one.
 *
 * @throws TypeError naming `option` for other text.
 */
export function windowOfText(option: string, text: string): RollingWindow {
  return windows.get(text) ?? getOrCache(windows, text, () => createWindow(option, text));
}

function createWindow(option: string, text: string): RollingWindow {
  const parsed = parseWindowText(text);
  if (parsed !== undefined) return rollingWindow({ limit: parsed.limit, window: `${parsed.windowMs}ms` });
  throw invalidOption(option, PERIOD.test(text) ? PERIOD_TEXT : (clarifyUnit(text) ?? WINDOW_TEXT), text);
}

import { clarifyUnit, readDuration } from '../validation/duration.js';
import { WINDOW_TEXT } from '../validation/error-texts.js';
import { invalidOption } from '../validation/validate.js';
import { type RollingWindow, rollingWindow } from './rolling-window.js';

const TEXT = /^(\d{1,16})\/(\d.*)$/;

/** A limit of units in a window. */
export interface ParsedWindow {
  /** In units. */
  readonly limit: number;
  /** In milliseconds. */
  readonly windowMs: number;
}

/** Parses text such as `100/1m`: units per window, the notation that the command line prints. `undefined` for other text. */
export function parseWindowText(text: string): ParsedWindow | undefined {
  const [, units, window] = TEXT.exec(text) ?? [];
  const limit = Number(units);
  const windowMs = readDuration(window);
  return Number.isSafeInteger(limit) && windowMs !== undefined ? { limit, windowMs } : undefined;
}

/** An app has few texts. With more than this, as when someone builds them from requests, the cache starts over. */
const MOST_TEXTS = 1000;

const windows = new Map<string, RollingWindow>();

/**
 * Returns the rolling window that text such as `100/1m` describes. Equal texts have the same one.
 *
 * @throws TypeError naming `option` for other text.
 */
export function windowOfText(option: string, text: string): RollingWindow {
  let window = windows.get(text);
  if (window !== undefined) return window;
  const parsed = parseWindowText(text);
  if (parsed === undefined) throw invalidOption(option, clarifyUnit(text) ?? WINDOW_TEXT, text);
  window = rollingWindow({ limit: parsed.limit, window: `${parsed.windowMs}ms` });
  if (windows.size === MOST_TEXTS) windows.clear();
  windows.set(text, window);
  return window;
}

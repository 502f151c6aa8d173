import { DEFAULT_SETTINGS, type Settings, toSettings } from './race.js';

/** What the address of the page contains. */
export interface Link {
  readonly settings: Settings;
  /** When each request was sent, in milliseconds since the first one. Empty if there is nothing to replay. */
  readonly times: readonly number[];
  readonly showsAll: boolean;
}

/** More requests do not fit into an address. */
const MAX_REQUESTS = 1000;

/** Returns the search of an address, such as `?limit=4&t=0,0.9x3`. It contains what differs from the defaults. */
export function toSearch({ settings, times, showsAll }: Link): string {
  const { algorithm, limit, windowMs, minDifferenceMs } = settings;
  const parts = [
    ...(algorithm === DEFAULT_SETTINGS.algorithm ? [] : [`algorithm=${algorithm}`]),
    ...(limit === DEFAULT_SETTINGS.limit ? [] : [`limit=${limit}`]),
    ...(windowMs === DEFAULT_SETTINGS.windowMs ? [] : [`window=${windowMs / 1000}s`]),
    ...(minDifferenceMs === 0 ? [] : [`minDifference=${minDifferenceMs / 1000}s`]),
    ...(showsAll ? ['rows=all'] : []),
    ...(times.length === 0 || times.length > MAX_REQUESTS ? [] : [`t=${toTimes(times)}`]),
  ];
  return parts.length === 0 ? '' : `?${parts.join('&')}`;
}

/** Reads an address. What is invalid keeps its default. */
export function parseSearch(search: string): Link {
  const given = new URLSearchParams(search);
  let settings = DEFAULT_SETTINGS;
  const set = (name: keyof Settings, value: unknown) => {
    try {
      if (value !== undefined) settings = toSettings({ ...settings, [name]: value });
    } catch {}
  };
  set('algorithm', given.get('algorithm') ?? undefined);
  set('limit', numberOf(/^(\d{1,4})$/.exec(given.get('limit') ?? '')));
  set('windowMs', secondsOf(given.get('window')));
  set('minDifferenceMs', secondsOf(given.get('minDifference')));
  return { settings, times: parseTimes(given.get('t') ?? ''), showsAll: given.get('rows') === 'all' };
}

const numberOf = (match: RegExpExecArray | null) => (match === null ? undefined : Number(match[1]));

function secondsOf(text: string | null): number | undefined {
  const seconds = numberOf(/^(\d{1,2}(?:\.\d{1,3})?)s$/.exec(text ?? ''));
  return seconds === undefined ? undefined : Math.round(seconds * 1000);
}

function toTimes(times: readonly number[]): string {
  const counts = new Map<number, number>();
  for (const atMs of times) counts.set(atMs, (counts.get(atMs) ?? 0) + 1);
  return [...counts].map(([atMs, count]) => `${atMs / 1000}${count === 1 ? '' : `x${count}`}`).join(',');
}

/** Reads `0,0.9x3`. Returns nothing if the times are invalid or decrease. */
function parseTimes(text: string): number[] {
  const times: number[] = [];
  for (const part of text.split(',')) {
    const [, seconds, count = '1'] = /^(\d{1,4}(?:\.\d{1,3})?)(?:x(\d{1,3}))?$/.exec(part) ?? [];
    const atMs = Math.round(Number(seconds) * 1000);
    if (seconds === undefined || atMs < (times.at(-1) ?? 0) || times.length + Number(count) > MAX_REQUESTS) return [];
    for (let index = 0; index < Number(count); index++) times.push(atMs);
  }
  return times;
}

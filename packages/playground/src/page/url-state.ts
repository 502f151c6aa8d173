import {
  ALGORITHM_NAMES,
  type Algorithm,
  BOUNDS,
  DEFAULT_SETTINGS,
  isScenario,
  type Scenario,
  type Settings,
} from '../shared/settings.js';

/** What a link to the page determines. */
export interface UrlState {
  readonly settings: Settings;
  /** Whether the link has any setting. Without one, the page leaves a server's settings as they are. */
  readonly hasSettings: boolean;
  /** The scenario that starts by itself. Without one, the tour does. */
  readonly scenario: Scenario | undefined;
  readonly showsAll: boolean;
  readonly isAutoplayOn: boolean;
}

/** The names in the URL of the settings that are durations. */
const DURATIONS = { window: 'windowMs', minDifference: 'minDifferenceMs' } as const;

/** Reads the query of the page's URL. Invalid values count as absent. */
export function parseSearch(search: string): UrlState {
  const query = new URLSearchParams(search);
  const parsed: Partial<Record<keyof Settings, Algorithm | number>> = {};
  const algorithm = query.get('algorithm') as Algorithm;
  if (ALGORITHM_NAMES.includes(algorithm)) parsed.algorithm = algorithm;
  const set = (name: keyof typeof BOUNDS, value: number) => {
    const { min, max } = BOUNDS[name];
    if (Number.isInteger(value) && value >= min && value <= max) parsed[name] = value;
  };
  set('limit', Number(query.get('limit') ?? Number.NaN));
  for (const [name, setting] of Object.entries(DURATIONS)) {
    const [, text] = /^(\d+(?:\.\d+)?)s$/.exec(query.get(name) ?? '') ?? [];
    if (text !== undefined) set(setting, Math.round(Number(text) * 1000));
  }
  const scenario = query.get('scenario');
  return {
    settings: { ...DEFAULT_SETTINGS, ...parsed } as Settings,
    hasSettings: Object.keys(parsed).length > 0,
    scenario: isScenario(scenario) ? scenario : undefined,
    showsAll: query.get('rows') === 'all',
    isAutoplayOn: query.get('autoplay') !== 'off',
  };
}

/** The query of a link to this state. It contains only what differs from the defaults, and keeps unknown parameters. */
export function toSearch(
  search: string,
  settings: Settings,
  showsAll: boolean,
  scenario: Scenario | undefined,
): string {
  const query = new URLSearchParams(search);
  const set = (name: string, value: string, defaultValue: string) => {
    if (value === defaultValue) query.delete(name);
    else query.set(name, value);
  };
  const { algorithm, limit, windowMs, minDifferenceMs } = settings;
  const defaults = DEFAULT_SETTINGS;
  set('algorithm', algorithm, defaults.algorithm);
  set('limit', String(limit), String(defaults.limit));
  set('window', `${windowMs / 1000}s`, `${defaults.windowMs / 1000}s`);
  set('minDifference', `${minDifferenceMs / 1000}s`, `${defaults.minDifferenceMs / 1000}s`);
  set('rows', showsAll ? 'all' : '', '');
  set('scenario', scenario ?? '', '');
  const text = query.toString();
  return text === '' ? '' : `?${text}`;
}

import type { RunState } from '../shared/protocol.js';
import { ROWS, type RowName, SCENARIOS } from '../shared/settings.js';
import type { Excess } from './excesses.js';
import { formatCount, formatSeconds, formatTimesTheLimit } from './format.js';
import type { RowHistory } from './row-history.js';

/** What one row did with the requests of a run. */
interface RowResult {
  readonly allowed: number;
  readonly rejected: number;
  /** The largest excess of this run, without the requests of earlier ones. */
  readonly excess: Excess | undefined;
}

/** Describes the requests that a running scenario sends. */
export function describePlan({ scenario, settings, planned }: RunState): string {
  const { limit, windowMs, minDifferenceMs } = settings;
  const name = SCENARIOS[scenario];
  switch (scenario) {
    case 'boundary': {
      const distance = ((planned[1]?.atMs ?? 0) - (planned[0]?.atMs ?? 0)) / 2;
      const first = `${formatCount(limit, 'request')} ${formatSeconds(distance)} before the fixed window's counter restarts`;
      return `${name}: ${first}, and ${limit} more the same time after.`;
    }
    case 'first': {
      const [before, after] = planned.slice(1).map(({ atMs }) => formatSeconds(atMs - planned[0]!.atMs));
      return `${name}: 1 request, ${limit - 1} more ${before} later, and ${limit} more ${after} after the first one.`;
    }
    case 'burst':
      return `${name}: more requests at once than the limit.`;
    case 'steady':
      return `${name}: one request each ${formatSeconds(Math.max(windowMs / limit, minDifferenceMs))}, for two windows.`;
    case 'hammer':
      return `${name}: 20 requests per second, for 5 s.`;
    case 'fill':
      return `${name}: ${formatCount(planned.length, 'request')}, a few more than the limit.`;
    case 'roll':
      return `${name}: one request each ${formatSeconds(windowMs / (2 * limit))}, twice as many as the limit.`;
  }
}

/** Describes how many requests of a run were allowed and rejected by the real limit. */
export function describeOutcomes({ status, isOutdated, outcomes }: RunState): string {
  const { allowed, rejected, failed, canceled, lost } = outcomes;
  const more = [`${failed} failed`, `${canceled} canceled`, `${lost} without a response`];
  const parts = [`${allowed} allowed`, `${rejected} rejected`, ...more.filter((part) => !part.startsWith('0 '))];
  const why = isOutdated ? ' The limit has changed.' : '';
  return `${status === 'stopped' ? 'Stopped' : 'Done'}: ${parts.join(', ')}.${why}`;
}

/** Describes what the rolling and the attacked window did with the requests of a run, and why they differ. */
export function describeResult(run: RunState, row: (name: RowName) => RowHistory): string {
  const { algorithm } = run.settings;
  const attacked = run.scenario === 'first' ? 'first' : 'fixed';
  const rolling = resultOf(run, row('rolling'));
  if (rolling.allowed + rolling.rejected === 0) return '';
  const sentences = [compareRows(run, rolling, attacked, resultOf(run, row(attacked)))];
  if (algorithm !== 'rolling' && algorithm !== attacked) {
    const { allowed, excess } = resultOf(run, row(algorithm));
    sentences.push(`The ${nameOf(algorithm)} allowed ${excess === undefined ? allowed : formatExcess(excess)}.`);
  }
  return sentences.join(' ');
}

function compareRows(
  { settings }: RunState,
  rolling: RowResult,
  attacked: RowName,
  { allowed, excess }: RowResult,
): string {
  const window = formatSeconds(settings.windowMs);
  const sent = formatCount(rolling.allowed + rolling.rejected, 'request');
  const ofRolling = `The rolling window allowed ${rolling.allowed} of ${sent}`;
  if (excess !== undefined) {
    return (
      `${ofRolling}, because it always counts the last ${window}. ` +
      `The ${nameOf(attacked)} allowed ${formatExcess(excess)}, ${formatTimesTheLimit(excess.count, settings.limit)}, ` +
      'because its counter restarted between them.'
    );
  }
  if (rolling.allowed === allowed) {
    return `${ofRolling}, and so did the ${nameOf(attacked)}. They differ only around the moment at which its counter restarts.`;
  }
  return (
    `${ofRolling}, as many as the last ${window} had room for. The ${nameOf(attacked)} allowed ${allowed}: ` +
    'it counts only since its counter restarted.'
  );
}

const nameOf = (name: RowName): string => ROWS[name].toLowerCase();
const formatExcess = ({ count: units, fromMs, toMs }: Excess): string =>
  `${units} within ${formatSeconds(toMs - fromMs)}`;

function resultOf({ id }: RunState, { marks, excesses }: RowHistory): RowResult {
  const ownMarks = marks.filter(({ attempt }) => attempt.run === id);
  const allowed = ownMarks.filter(({ state }) => state !== 'rejected').length;
  const ofRun = excesses.filter(({ run }) => run === id);
  const excess = ofRun.reduce<Excess | undefined>(
    (most, one) => (one.count > (most?.count ?? 0) ? one : most),
    undefined,
  );
  return { allowed, rejected: ownMarks.length - allowed, excess };
}

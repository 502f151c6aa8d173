import type { RunState } from '../shared/protocol.js';
import { ALGORITHMS, type Algorithm, SCENARIOS } from '../shared/settings.js';
import type { Mark, RowHistory } from './row-history.js';
import { count, seconds, timesTheLimit } from './words.js';

/** What one algorithm did with the requests of a run. */
interface RowResult {
  readonly allowed: number;
  readonly rejected: number;
  /** The most requests that it allowed in a window, of which the last one is of this run. */
  readonly most: Mark | undefined;
}

/** Describes the requests that a running scenario sends. */
export function describePlan({ scenario, settings, planned }: RunState): string {
  const { limit, windowMs, minDifferenceMs } = settings;
  const name = SCENARIOS[scenario];
  switch (scenario) {
    case 'boundary': {
      const distance = ((planned[1]?.atMs ?? 0) - (planned[0]?.atMs ?? 0)) / 2;
      const first = `${count(limit, 'request')} ${seconds(distance)} before the fixed window's counter restarts`;
      return `${name}: ${first}, and ${limit} more the same time after.`;
    }
    case 'burst':
      return `${name}: more requests at once than the limit.`;
    case 'steady':
      return `${name}: one request each ${seconds(Math.max(windowMs / limit, minDifferenceMs))}, for two windows.`;
    case 'hammer':
      return `${name}: 20 requests per second, for 5 s.`;
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

/** Describes what the rolling and the fixed window did with the requests of a run, and why they differ. */
export function describeResult(run: RunState, row: (algorithm: Algorithm) => RowHistory): string {
  const { algorithm, limit, windowMs } = run.settings;
  const rolling = resultOf(run, row('rolling'));
  const fixed = resultOf(run, row('fixed'));
  const sent = rolling.allowed + rolling.rejected;
  if (sent === 0) return '';
  const sentences = [compare(rolling, fixed, sent, limit, windowMs)];
  if (algorithm !== 'rolling' && algorithm !== 'fixed') {
    const { allowed, most } = resultOf(run, row(algorithm));
    const isBeyond = most !== undefined && most.count > limit;
    const did = isBeyond ? `${most.count} within ${seconds(most.momentMs - most.firstMs)}` : allowed;
    sentences.push(`The ${ALGORITHMS[algorithm].toLowerCase()} allowed ${did}.`);
  }
  return sentences.join(' ');
}

function compare(rolling: RowResult, fixed: RowResult, sent: number, limit: number, windowMs: number): string {
  const window = seconds(windowMs);
  const ofRolling = `The rolling window allowed ${rolling.allowed} of ${count(sent, 'request')}`;
  const { most } = fixed;
  if (most !== undefined && most.count > limit) {
    const span = seconds(most.momentMs - most.firstMs);
    return (
      `${ofRolling}, because it always counts the last ${window}. ` +
      `The fixed window allowed ${most.count} within ${span}, ${timesTheLimit(most.count, limit)}, ` +
      'because its counter restarted between them.'
    );
  }
  if (rolling.allowed === fixed.allowed) {
    return `${ofRolling}, and so did the fixed window. They differ only around the moment at which its counter restarts.`;
  }
  return (
    `${ofRolling}, as many as the last ${window} had room for. The fixed window allowed ${fixed.allowed}: ` +
    'it counts only since its counter restarted.'
  );
}

function resultOf({ id }: RunState, { marks }: RowHistory): RowResult {
  const own = marks.filter(({ attempt }) => attempt.run === id);
  const allowed = own.filter(({ state }) => state !== 'rejected');
  const most = allowed.reduce<Mark | undefined>(
    (best, mark) => (mark.count > (best?.count ?? 0) ? mark : best),
    undefined,
  );
  return { allowed: allowed.length, rejected: own.length - allowed.length, most };
}

import type { Attempt } from '../shared/protocol.js';
import { clockWindowStart, leakyIntervalMs, type RowName } from '../shared/settings.js';
import { formatSeconds, formatTimesTheLimit } from './format.js';
import type { RowHistory } from './row-history.js';
import type { Mark } from './row-marks.js';

/** Explains why a request was allowed or rejected in a row. */
export function explain(row: RowHistory, mark: Mark): string {
  const { state, attempt, count } = mark;
  if (state === 'rejected') return `Rejected: ${whyRejected(row, mark)}.`;
  const delay = attempt.delays[row.name] ?? 0;
  if (delay > 0) return `Allowed: it waited ${formatSeconds(delay)} in the queue for its start.`;
  if (state === 'allowed') return `Allowed: number ${count} of ${attempt.limit} in ${formatSeconds(attempt.windowMs)}.`;
  const span = formatSeconds(mark.momentMs - mark.firstMs);
  const times = formatTimesTheLimit(count, attempt.limit);
  return `Allowed beyond the limit: number ${count} within ${span}, ${times}. ${whyBeyond(row.name, mark)}`;
}

const BEYOND: Readonly<Record<RowName, string>> = {
  rolling: '',
  bucketed: '',
  counter: 'Its estimate was too low.',
  fixed: '',
  first: 'The counter had restarted in between, with the first request after its window.',
  token: 'Tokens had refilled since the burst.',
  leaky: '',
};

function whyBeyond(name: RowName, { momentMs, attempt }: Mark): string {
  if (name !== 'fixed') return BEYOND[name];
  return `The counter had restarted ${formatSeconds(momentMs - clockWindowStart(momentMs, attempt.windowMs))} before.`;
}

function whyRejected(row: RowHistory, mark: Mark): string {
  const { attempt, momentMs, count, firstMs } = mark;
  const { limit, windowMs, minDifferenceMs } = attempt;
  const before = row.name === 'leaky' ? undefined : lastAllowed(row, attempt);
  if (before !== undefined && momentMs - before < minDifferenceMs && count < limit) {
    return `only ${formatSeconds(momentMs - before)} after the last one, and the minimum difference is ${formatSeconds(minDifferenceMs)}`;
  }
  switch (row.name) {
    case 'rolling':
    case 'bucketed':
      return `${count} in the ${formatSeconds(windowMs)} before. The oldest expires ${formatSeconds(firstMs + windowMs - momentMs)} later`;
    case 'fixed': {
      const leftMs = clockWindowStart(momentMs, windowMs) + windowMs - momentMs;
      return `the counter was at ${limit}. It restarts ${formatSeconds(leftMs)} later`;
    }
    case 'first':
      return `the counter was at ${limit}. It restarts with the first request after its window`;
    case 'counter':
      return `its estimate of the last ${formatSeconds(windowMs)}, from two counters, was at ${limit}`;
    case 'token':
      return `no token was left. One more comes every ${formatSeconds(windowMs / limit)}`;
    case 'leaky':
      return `the queue was full. One request leaves it every ${formatSeconds(leakyIntervalMs(attempt))}`;
  }
}

/** When the last request before this one was allowed. */
function lastAllowed({ marks }: RowHistory, { atMs, countedFromMs }: Attempt): number | undefined {
  return marks.findLast(
    ({ state, momentMs, attempt }) =>
      state !== 'rejected' && momentMs < atMs && attempt.countedFromMs === countedFromMs,
  )?.momentMs;
}
